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
///
/// Flows with the same route form a bundle: they have the same rate, and are filled as one.
class FairRates {
 public:
  using Link = std::uint32_t;
  using Bundle = std::uint32_t;
  /// Part of the filling that a change repeats.
  enum class Filling : std::uint8_t { from_checkpoint, of_reached_links };

  /// `capacities`: of links in B/s, > 0. `routes`: of bundles, each with at least one link. A link
  /// listed twice carries twice the rate of a flow.
  FairRates(std::span<const double> capacities, std::span<const std::vector<Link>> routes,
            Filling filling = Filling::from_checkpoint);

  /// Adds a flow to a bundle.
  void add(Bundle bundle);
  /// Removes a flow from a bundle that has one.
  void remove(Bundle bundle);

  /// Updates the rates. Returns the bundles whose rate differs from the previous call, and new ones.
  std::span<const Bundle> solve();

  /// Rate in B/s of each flow of a bundle, as of the last solve() with a flow present.
  double rate(Bundle bundle) const { return rates_[bundle]; }

 private:
  struct LinkState {
    double left = 0.0;       ///< capacity not used by fixed flows
    std::uint32_t open = 0;  ///< flows whose rate is not fixed yet
  };
  /// State of the filling at a checkpoint.
  struct Checkpoint {
    double rate = 0.0;         ///< rate that open flows had reached
    std::uint32_t filled = 0;  ///< number of fixed bundles, a prefix of filled_
  };
  struct Candidate {
    double rate = 0.0;  ///< rate at which the link saturates
    Link link = 0;
    bool operator>(const Candidate& other) const { return rate > other.rate; }
  };
  /// The bundles with flows on a link, and for each the index in hops_ of its hop over the link.
  struct Users {
    std::vector<Bundle> bundles;
    std::vector<std::uint32_t> hops;
  };

  static constexpr std::uint32_t kAbsent = 0xFFFFFFFF;
  static constexpr std::uint32_t kOpen = 0xFFFFFFFE;

  std::span<const Link> route(Bundle bundle) const {
    return std::span(hops_).subspan(first_hops_[bundle],
                                    first_hops_[bundle + 1] - first_hops_[bundle]);
  }
  std::span<LinkState> checkpoint_links();
  bool keeps_checkpoint(Bundle bundle);
  void enter(Bundle bundle);
  void leave(Bundle bundle);
  void reopen(Bundle bundle);
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
  std::vector<std::uint32_t> first_hops_;  ///< by bundle, plus the end
  std::vector<Link> hops_;                 ///< of all routes
  std::vector<std::uint32_t> hop_slots_;   ///< by hop, index among the users of its link
  std::vector<std::uint32_t> sizes_;       ///< by bundle: its flows
  std::vector<std::uint32_t> slots_;       ///< by bundle, index in filled_, kOpen or kAbsent
  std::vector<double> rates_;              ///< by bundle
  std::vector<LinkState> links_;           ///< current state of the filling
  std::vector<Bundle> filled_;             ///< fixed bundles, in the order of rates
  /// Checkpoints by rising rate; the first is the empty filling, which is always valid.
  std::vector<Checkpoint> checkpoints_;
  std::vector<LinkState> checkpoint_states_;  ///< all links for each of checkpoints_
  bool stale_ = false;                        ///< flows have come or gone since the last solve()
  std::vector<Link> reached_;                 ///< by changes, over present flows
  std::vector<char> is_reached_;              ///< by link
  std::vector<Candidate> candidates_;         ///< a heap
  std::vector<Bundle> changed_;
};

}  // namespace equarx::sim
