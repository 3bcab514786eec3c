// Transfers over links that several pairs of chips use, and over HBMs, which cores use as well.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sim/direct/fair_rates.hpp"
#include "sim/direct/time_heap.hpp"
#include "sim/direct/wiring.hpp"

namespace equarx::sim {

/// The transfers of a pair go one after the other; those that go at the same time share each link max-min
/// fairly. Links that no route joins never hear of each other: each such part of the machine has rates of
/// its own.
///
/// Time may only go forward from call to call.
class SharedLinks {
 public:
  /// Stands for an inbox where a core accesses its HBM.
  static constexpr std::size_t kCore = static_cast<std::size_t>(-1);
  /// Which of the transfers: of an inbox, numbered as there; or of a list, numbered by rank and stream.
  struct Cargo {
    std::size_t inbox = 0;
    std::uint64_t number = 0;
  };

  /// Both must outlive it. `streams`: lists of each chip.
  SharedLinks(const Machine& machine, const Wiring& wiring, std::uint32_t streams = 1);

  /// `bytes` of a pair that shares links start on their way, after those before them.
  void send(std::uint32_t pair, double bytes, const Cargo& cargo, double now_s);
  /// A list (rank x streams + stream) reads and writes `bytes` of its chip's HBM, after those before them.
  void access(std::uint32_t list, double bytes, double now_s);
  /// When the next transfer leaves, or access ends; +Inf if none is under way.
  double next_s();
  /// What has left by `now_s`, which is next_s(). Valid until the next call.
  std::span<const Cargo> leave(double now_s);
  /// What is lost because a link fails. Valid until the next call.
  std::span<const Cargo> fail(LinkIndex link, double now_s);

 private:
  struct Queued {
    double bytes = 0.0;
    Cargo cargo;
  };
  /// The transfers of a pair, or the accesses of a list. The first one is under way.
  struct Flow {
    std::uint32_t part = 0;    ///< of the machine
    std::uint32_t number = 0;  ///< of the part
    std::uint32_t first = 0;   ///< in `queue`; those before have left
    double left = 0.0;         ///< bytes of the first one, at since_s
    double since_s = 0.0;
    double rate = 0.0;
    std::vector<Queued> queue;

    bool idle() const { return first == queue.size(); }
    /// What has left, once it is most of the queue: where there is always something to send, that never empties.
    void forget() {
      constexpr std::uint32_t kWorthIt = 64;
      if (first < kWorthIt || 2 * first < queue.size()) return;
      queue.erase(queue.begin(), queue.begin() + first);
      first = 0;
    }
  };
  struct Part {
    FairRates rates;
    std::vector<std::uint32_t> flows;  ///< by number
    bool stale = false;
  };

  void make_parts(const Machine& machine);
  void go_to(double now_s);
  void settle();
  void touch(Flow& flow);
  std::vector<Route> flow_routes(const Machine& machine) const;
  void enqueue(std::uint32_t flow, double bytes, const Cargo& cargo, double now_s);
  void start(std::uint32_t flow);
  void stop(std::uint32_t flow);

  const Wiring& wiring_;
  std::uint32_t streams_;
  double now_s_ = 0.0;
  std::vector<Flow> flows_;  ///< by pair, and behind them those of lists
  std::vector<Part> parts_;
  std::vector<std::uint32_t> stale_;  ///< parts
  TimeHeap ends_;                     ///< by flow
  std::vector<Cargo> gone_;
};

}  // namespace equarx::sim
