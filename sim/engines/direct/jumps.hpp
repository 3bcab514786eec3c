// Periods of instruction streams in which the state of the simulation repeats, passed over.
//
// Collectives send one minishard like the other. Once a stream has passed a period of a loop of its list,
// and all states of streams, cores, links and queues are those of one or a few periods before, only
// later, the next periods delay everything by the same time: they are passed over, and the last ones are
// simulated again. Concurrent work that lasts longer, such as a GEMM, has less left after each
// period; a jump ends before it does.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "sim/engines/direct/loops.hpp"
#include "sim/engines/direct/record.hpp"

namespace equarx::sim {

class InOrder;

/// Jumps of a simulation in time order.
class Jumps {
 public:
  /// `run` must outlive the object.
  explicit Jumps(InOrder& run);
  ~Jumps();
  Jumps(const Jumps&) = delete;
  Jumps& operator=(const Jumps&) = delete;

  /// True for simulations of several streams without trace, failures, and shared links or HBMs.
  static bool may_jump(const Record& record);

  /// A stream of a chip has entered the list of a run.
  void enter(std::uint32_t stream);
  /// A stream of a chip has passed a period of a loop.
  void pass(std::uint32_t stream);

 private:
  struct Snapshot;
  class Comparison;

  /// A loop, and whether states in it were found to repeat.
  struct Tried {
    Loop loop;
    std::uint32_t failures = 0;  ///< passes through the whole loop without a jump
    bool succeeded = false;
  };

  /// A stream of a chip within its list.
  struct Place {
    std::vector<Tried>* loops = nullptr;
    std::size_t loop = 0;      ///< index of the loop that it is in or before
    std::uint64_t passed = 0;  ///< periods of this loop
    std::uint64_t next = 0;    ///< periods after which the state is kept
    std::unique_ptr<Snapshot> kept;
  };

  std::vector<Tried>& loops_of(std::uint32_t list);
  void compare(Place& place);
  void go_to_loop(std::uint32_t stream, std::size_t loop);
  /// The loop that a stream is in; null if none.
  const Loop* loop_of(std::uint32_t stream) const;

  InOrder& run_;
  std::map<std::uint32_t, std::vector<Tried>> loops_;  ///< by list of the timelines
  std::vector<Place> places_;                          ///< by stream of a chip
};

}  // namespace equarx::sim
