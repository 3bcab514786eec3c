// Chips that one thread runs ahead.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "sim/engines/direct/inbox.hpp"
#include "sim/engines/direct/record.hpp"

namespace equarx::sim {

/// State of the channels of all chips that run ahead.
struct AheadChannels {
  explicit AheadChannels(const Record& record)
      : free_s(record.wiring.pairs().size()), states(record.inboxes.size()) {}

  enum class State : std::uint8_t {
    idle,
    awaited,  ///< the receiver waits for its next message
    border    ///< the receiver is in another block; its inbox is `receivers`
  };

  std::vector<double> free_s;            ///< by pair: when its link is free, including the latency
  std::vector<State> states;             ///< by inbox
  std::vector<std::uint32_t> receivers;  ///< by inbox of a sender, for State::border
};

/// A range of ranks whose chips one thread at a time runs ahead (run_ahead()).
class AheadBlock {
 public:
  /// A message for a chip of another block.
  struct Crossing {
    std::size_t inbox = 0;  ///< of the receiver
    collectives::Rank receiver = 0;
    Transfer transfer;
  };

  /// The other arguments must outlive the block; blocks with ranks apart may run concurrently.
  AheadBlock(Record& record, AheadChannels& channels, collectives::Rank first,
             collectives::Rank end);

  /// Adds messages to the inboxes of this block.
  void deliver(const std::vector<Crossing>& arrivals);

  /// Runs the chips until all wait or have ended, or about `most` more messages are received.
  void run(std::uint64_t most);

  /// A chip can advance.
  bool is_ready() const { return !ready_.empty(); }
  /// Messages received so far.
  std::uint64_t received() const { return received_; }
  /// Latest end of a chip so far, in s.
  double end_s() const { return end_s_; }
  /// Messages for other blocks since the last clear(), in the order in which they were sent.
  std::vector<Crossing>& leaving() { return leaving_; }

 private:
  struct Chip {
    const Step* step = nullptr;
    const Step* run = nullptr;  ///< the run whose list contains `step`, if any
    double now_s = 0.0;
    bool waits = false;  ///< blocked in a wait; the core time of the step is already accounted for
  };

  Chip& chip(collectives::Rank rank) { return chips_[rank - first_]; }
  void advance(collectives::Rank rank);
  static collectives::InstructionId instruction_of(const Chip& chip, const Step& step) {
    return chip.run != nullptr ? chip.run->instruction : step.instruction;
  }
  void work(collectives::Rank rank, const Step& step, double slowdown);
  void send(collectives::Rank rank, const Step& step);
  void export_transfer(std::size_t index, collectives::Rank receiver);
  bool receive(collectives::Rank rank, const Step& step);

  Record& record_;
  AheadChannels& channels_;
  collectives::Rank first_;
  std::vector<Chip> chips_;               ///< from rank `first_`
  std::vector<collectives::Rank> ready_;  ///< chips that can advance
  std::vector<Crossing> leaving_;
  std::uint64_t received_ = 0;
  double end_s_ = 0.0;
};

}  // namespace equarx::sim
