// Max-min fair rates of flows over shared links.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace equarx::sim {

/// Max-min fair rates: no flow can be faster without slowing down a flow that is not faster.
/// Computed by progressive filling: all rates rise together until a link saturates, whose flows are
/// then fixed while the others continue (Bertsekas and Gallager, Data Networks, 6.5.2).
///
/// Incremental: links saturate in the order of their levels, and adding or removing a flow changes
/// nothing below the level at which its first link saturates. The filling saves checkpoints on the
/// way and resumes from the last one that a change leaves valid. Where most changes concern few links,
/// which only some flows connect with others at times, only the links that a change reaches over
/// present flows are filled, each time from the beginning.
class FairRates {
 public:
  using Link = std::uint32_t;
  using Flow = std::uint32_t;
  /// Part of the filling that a change repeats.
  enum class Filling : std::uint8_t { from_checkpoint, of_reached_links };

  /// `capacities`: of links in B/s, > 0. `routes`: of flows, each with at least one link. A link
  /// listed twice carries twice the rate of the flow.
  FairRates(std::span<const double> capacities, std::span<const std::vector<Link>> routes,
            Filling filling = Filling::from_checkpoint);

  /// Adds an absent flow.
  void add(Flow flow);
  /// Removes a present flow.
  void remove(Flow flow);

  /// Updates the rates. Returns the flows whose rate differs from the previous call, and flows
  /// added since.
  std::span<const Flow> solve();

  /// Rate in B/s as of the last solve() with the flow present.
  double rate(Flow flow) const { return rates_[flow]; }

 private:
  struct LinkState {
    double left = 0.0;       ///< capacity not used by fixed flows
    std::uint32_t open = 0;  ///< flows whose rate is not fixed yet
  };
  /// State of the filling at a checkpoint.
  struct Checkpoint {
    double rate = 0.0;         ///< rate that open flows had reached
    std::uint32_t filled = 0;  ///< number of fixed flows, a prefix of filled_
  };
  struct Candidate {
    double rate = 0.0;  ///< rate at which the link saturates
    Link link = 0;
    bool operator>(const Candidate& other) const { return rate > other.rate; }
  };
  /// The flows of a link, and for each the index in hops_ of its hop over the link.
  struct Users {
    std::vector<Flow> flows;
    std::vector<std::uint32_t> hops;
  };

  static constexpr std::uint32_t kAbsent = 0xFFFFFFFF;
  static constexpr std::uint32_t kOpen = 0xFFFFFFFE;

  std::span<const Link> route(Flow flow) const {
    return std::span(hops_).subspan(first_hops_[flow], first_hops_[flow + 1] - first_hops_[flow]);
  }
  std::span<LinkState> checkpoint_links();
  bool keeps_checkpoint(Flow flow);
  void pop_checkpoint();
  void save_checkpoint(double rate);
  void restore_checkpoint();
  void reach(Link link);
  void reopen_reached();
  void fill();
  void fill_link(Link link, double rate);
  void collect_candidates();
  void sink_first();

  Filling filling_;
  std::vector<Users> users_;               ///< by link
  std::vector<std::uint32_t> first_hops_;  ///< by flow, plus the end
  std::vector<Link> hops_;                 ///< of all routes
  std::vector<std::uint32_t> hop_slots_;   ///< by hop, index among the users of its link
  std::vector<std::uint32_t> slots_;       ///< by flow, index in filled_, kOpen or kAbsent
  std::vector<double> rates_;              ///< by flow
  std::vector<LinkState> links_;           ///< current state of the filling
  std::vector<Flow> filled_;               ///< fixed flows, in the order of rates
  /// Checkpoints by rising rate; the first is the empty filling, which is always valid.
  std::vector<Checkpoint> checkpoints_;
  std::vector<LinkState> checkpoint_states_;  ///< all links for each of checkpoints_
  bool stale_ = false;                        ///< flows have come or gone since the last solve()
  std::vector<Link> reached_;                 ///< by changes, over present flows
  std::vector<char> is_reached_;              ///< by link
  std::vector<Candidate> candidates_;         ///< a heap
  std::vector<Flow> changed_;
};

}  // namespace equarx::sim
