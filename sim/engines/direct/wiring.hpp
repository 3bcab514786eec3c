// Sender-receiver pairs of a machine in indexed form.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "sim/machine.hpp"

namespace equarx::sim {

/// A sender, a receiver and one of the lanes between them, with its route.
struct Pair {
  collectives::Rank from = 0;
  collectives::Rank to = 0;
  const Route* route = nullptr;
  double latency_s = 0.0;
  double rate = 0.0;    ///< B/s of the slowest link
  bool shared = false;  ///< at least one link is also used by other pairs
  double fails_at_s =
      std::numeric_limits<double>::infinity();  ///< when the first link of the route fails
};

/// The pairs of a machine, and the pair of each rank and channel.
class Wiring {
 public:
  /// `machine` must outlive the object.
  explicit Wiring(const Machine& machine);

  std::size_t channels() const { return channels_; }
  /// Index for data by rank and channel.
  std::size_t index(collectives::Rank rank, collectives::ChannelId channel) const {
    return rank * channels_ + channel;
  }
  /// Index into pairs() of the messages sent by a rank in a channel.
  std::uint32_t pair_of(std::size_t index) const { return pair_of_[index]; }
  const std::vector<Pair>& pairs() const { return pairs_; }
  /// By link, the number of pairs that use it, plus the core for HBMs.
  const std::vector<std::uint32_t>& users() const { return users_; }
  /// True if any link or HBM is shared.
  bool shares() const { return shares_; }

 private:
  std::size_t channels_;
  bool shares_ = false;
  std::vector<std::uint32_t> pair_of_;  ///< by rank and channel
  std::vector<Pair> pairs_;
  std::vector<std::uint32_t> users_;  ///< by link
};

}  // namespace equarx::sim
