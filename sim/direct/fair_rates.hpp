// Max-min fair rates of flows over shared links.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace equarx::sim {

/// Rates of flows over links, such that no flow could be faster without making one slower that is not
/// faster than it: all rates rise together until a link is full, whose flows then keep their rate while
/// the others go on (progressive filling; Bertsekas and Gallager, Data Networks, 6.5.2).
///
/// Incremental: links fill in the order of their levels, and a flow that comes or goes changes nothing
/// below the level at which its first link is full. The filling is saved now and then on its way up, and
/// goes on from the last state that a change leaves as it is.
class FairRates {
 public:
  using Link = std::uint32_t;
  using Flow = std::uint32_t;

  /// `capacities` of links in B/s, above 0; `routes` of flows, each of at least one link and none twice.
  FairRates(std::span<const double> capacities, std::span<const std::vector<Link>> routes);

  /// A flow begins that is not there.
  void add(Flow flow);
  /// A flow ends that is there.
  void remove(Flow flow);

  /// Brings the rates up to date. @return the flows that have another rate than before the last call, and
  /// those that have come since
  std::span<const Flow> solve();

  /// B/s, as of the last solve() that the flow was there for.
  double rate(Flow flow) const { return rates_[flow]; }

 private:
  struct LinkState {
    double left = 0.0;       ///< of its capacity by flows that keep their rate
    std::uint32_t open = 0;  ///< flows whose rate still rises
  };
  /// How far the filling was when its links were saved.
  struct Saved {
    double rate = 0.0;         ///< that open flows had reached
    std::uint32_t filled = 0;  ///< flows that keep their rate, first in filled_
  };
  struct Candidate {
    double rate = 0.0;  ///< at which the link would be full
    Link link = 0;
    bool operator>(const Candidate& other) const { return rate > other.rate; }
  };
  /// The flows of a link, and the hop of each that leads over it.
  struct Users {
    std::vector<Flow> flows;
    std::vector<std::uint32_t> hops;
  };

  static constexpr std::uint32_t kAbsent = 0xFFFFFFFF;
  static constexpr std::uint32_t kOpen = 0xFFFFFFFE;

  std::span<const Link> route(Flow flow) const {
    return std::span(hops_).subspan(first_hops_[flow], first_hops_[flow + 1] - first_hops_[flow]);
  }
  std::span<LinkState> links_of_last_saved();
  bool stays(Flow flow);
  void forget_last();
  void save(double rate);
  void go_back();
  void fill();
  void fill_link(Link link, double rate);
  void collect_candidates();
  void sink_first();

  std::vector<Users> users_;               ///< by link
  std::vector<std::uint32_t> first_hops_;  ///< by flow, and one more
  std::vector<Link> hops_;                 ///< of all routes
  std::vector<std::uint32_t> hop_places_;  ///< of each hop, among its link's users
  std::vector<std::uint32_t> places_;      ///< of each flow in filled_, or one of the marks above
  std::vector<double> rates_;              ///< by flow
  std::vector<LinkState> links_;           ///< as far as the filling is
  std::vector<Flow> filled_;               ///< that keep their rate, in the order of rates
  std::vector<Saved> saved_;  ///< rising; the first is the empty filling, which always stays
  std::vector<LinkState> saved_links_;  ///< all links for each of saved_
  bool stale_ = false;                  ///< flows have come or gone since the last solve()
  std::vector<Candidate> candidates_;   ///< a heap
  std::vector<Flow> changed_;
};

}  // namespace equarx::sim
