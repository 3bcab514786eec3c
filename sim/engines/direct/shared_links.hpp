// Transfers over links shared by several pairs of chips, and over HBMs, which are also shared with
// cores.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "sim/engines/direct/fair_rates.hpp"
#include "sim/engines/direct/time_heap.hpp"
#include "sim/engines/direct/wiring.hpp"

namespace equarx::sim {

/// Transfers of a pair are serialized; concurrent transfers share each link max-min fairly. Links
/// not connected by any route are independent: each such component of the machine has its own
/// FairRates.
///
/// Times must not decrease from call to call.
class SharedLinks {
 public:
  /// Pseudo-inbox of HBM accesses by a core.
  static constexpr std::size_t kCore = static_cast<std::size_t>(-1);
  /// Identifies a transfer by its inbox and its number there, or an HBM access by kCore and its
  /// stream (rank x streams + stream).
  struct Cargo {
    std::size_t inbox = 0;
    std::uint64_t number = 0;
  };

  /// `machine` and `wiring` must outlive the object. `streams`: instruction streams per chip.
  SharedLinks(const Machine& machine, const Wiring& wiring, std::uint32_t streams = 1);

  /// Enqueues a transfer of a pair that shares links.
  void send(std::uint32_t pair, double bytes, const Cargo& cargo, double now_s);
  /// Enqueues an HBM access of `bytes` by a stream (rank x streams + stream).
  void access(std::uint32_t list, double bytes, double now_s);
  /// Time of the next completion of a transfer or access; +Inf if none is in flight.
  double next_s();
  /// Returns the transfers and accesses completed at `now_s`, which must equal next_s(). Valid
  /// until the next call.
  std::span<const Cargo> leave(double now_s);
  /// Fails a link and returns the aborted transfers. Valid until the next call.
  std::span<const Cargo> fail(LinkIndex link, double now_s);

 private:
  struct Queued {
    double bytes = 0.0;
    Cargo cargo;
  };
  /// Queued transfers of a pair, or accesses of a stream. The first one is in flight.
  struct Flow {
    std::uint32_t bundle = 0;  ///< index in bundles_
    std::uint32_t first = 0;   ///< index in `queue`; earlier entries have completed
    std::vector<Queued> queue;

    bool idle() const { return first == queue.size(); }
    /// Erases completed entries once they are most of the queue, since a busy queue never empties.
    void compact() {
      constexpr std::uint32_t kMinErased = 64;
      if (first < kMinErased || 2 * first < queue.size()) return;
      queue.erase(queue.begin(), queue.begin() + first);
      first = 0;
    }
  };
  /// A flow in flight, and the progress of its bundle at which its first entry completes.
  struct Goal {
    double bytes = 0.0;
    std::uint32_t flow = 0;
    bool operator>(const Goal& other) const { return bytes > other.bytes; }
  };
  /// Flows over the same links, which have the same rate.
  struct Bundle {
    std::uint32_t part = 0;    ///< component of the machine
    std::uint32_t number = 0;  ///< bundle number within the component
    double progress = 0.0;     ///< bytes that each flow has sent by since_s
    double since_s = 0.0;
    double rate = 0.0;
    std::vector<Goal> goals = {};  ///< a heap, the first to complete first

    double progress_at(double now_s) const { return progress + (now_s - since_s) * rate; }
    double end_s() const { return since_s + std::max(0.0, goals.front().bytes - progress) / rate; }
  };
  struct Part {
    FairRates rates;
    std::vector<std::uint32_t> bundles;  ///< indices in bundles_ by number within the component
    bool stale = false;
  };

  void make_parts(const Machine& machine);
  void advance_to(double now_s);
  void settle();
  void touch(Bundle& bundle);
  std::vector<Route> flow_routes(const Machine& machine) const;
  void enqueue(std::uint32_t flow, double bytes, const Cargo& cargo, double now_s);
  void start(std::uint32_t flow);
  void stop(Flow& flow);
  void push_goal(Bundle& bundle, const Goal& goal);
  void pop_goal(Bundle& bundle);

  const Wiring& wiring_;
  std::uint32_t streams_;
  double now_s_ = 0.0;
  std::vector<Flow> flows_;  ///< by pair, then by stream
  std::vector<Bundle> bundles_;
  std::vector<Part> parts_;
  std::vector<std::uint32_t> stale_;  ///< components with outdated rates
  TimeHeap ends_;                     ///< first completion times by bundle
  std::vector<Cargo> gone_;
};

}  // namespace equarx::sim
