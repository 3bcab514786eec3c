// Max-min fair rates of flows over shared links.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace equarx::sim {

/// Max-min fair rates: no flow can be faster without slowing down a flow that is not faster.
/// Equivalently, every flow has a bottleneck: a saturated link on which no flow is faster (Bertsekas
/// and Gallager, Data Networks, 6.5.2). The level of a link is the rate of the flows that it limits.
///
/// Incremental: a change concerns the links of the flow that came or went. Concerned links are visited
/// by rising level, as in progressive filling; a link whose flows change their rates concerns the other
/// links of these flows. All others keep their levels, and their flows the rates.
///
/// Flows with the same route form a bundle: they have the same rate, and are treated as one.
class FairRates {
 public:
  using Link = std::uint32_t;
  using Bundle = std::uint32_t;

  /// `capacities`: of links in B/s, > 0. `routes`: of bundles, each with at least one link. A link
  /// listed twice carries twice the rate of a flow.
  FairRates(std::span<const double> capacities, std::span<const std::vector<Link>> routes);

  /// Adds a flow to a bundle.
  void add(Bundle bundle);
  /// Removes a flow from a bundle that has one.
  void remove(Bundle bundle);

  /// Updates the rates. Returns the bundles whose rate differs from the previous call, and new ones.
  std::span<const Bundle> solve();

  /// Rate in B/s of each flow of a bundle, as of the last solve() with a flow present.
  double rate(Bundle bundle) const { return flows_[bundle].rate; }

 private:
  static constexpr Link kNoLink = std::numeric_limits<Link>::max();
  static constexpr double kUnlimited = std::numeric_limits<double>::infinity();

  enum class State : std::uint8_t {
    kept,    ///< at the rate of the last solve()
    open,    ///< its bottleneck is concerned: the rate is not known yet
    rising,  ///< open; all its links are concerned
    settled  ///< at its new rate
  };
  struct Flows {
    double rate = 0.0;          ///< of each flow of the bundle
    std::uint32_t size = 0;     ///< number of flows
    Link bottleneck = kNoLink;  ///< kNoLink for new flows
    State state = State::kept;

    bool is_open() const { return state == State::open || state == State::rising; }
  };
  struct LinkState {
    double capacity = 0.0;
    double level = kUnlimited;   ///< rate of the flows whose bottleneck it is; unlimited if none
    double former = kUnlimited;  ///< level of the last solve(); no kept flow is faster
    double left = 0.0;           ///< capacity not used by kept and settled flows
    double next_visit = kUnlimited;  ///< rate of its first visit
    std::uint32_t open = 0;          ///< open flows
    bool concerned = false;
    bool lowered = false;  ///< a flow has opened
  };
  /// A visit of a link at a rate that its level will not be below.
  struct Visit {
    double rate = 0.0;
    Link link = 0;
    bool operator>(const Visit& other) const { return rate > other.rate; }
  };
  /// The bundles with flows on a link, and for each the index in hops_ of its hop over the link.
  struct Users {
    std::vector<Bundle> bundles;
    std::vector<std::uint32_t> hops;
  };

  std::span<const Link> route(Bundle bundle) const {
    return std::span(hops_).subspan(first_hops_[bundle],
                                    first_hops_[bundle + 1] - first_hops_[bundle]);
  }
  void enter(Bundle bundle);
  void leave(Bundle bundle);
  void mark(Bundle bundle);
  void concern(Link link);
  void open(Bundle bundle);
  double least_level(Link link) const;
  double level_of(Link link) const;
  void visit_at(Link link, double rate);
  void visit(Link link, double rate);
  void spread(Link link, double level);
  void settle(Link link, double level);

  std::vector<Users> users_;               ///< by link
  std::vector<std::uint32_t> first_hops_;  ///< by bundle, plus the end
  std::vector<Link> hops_;                 ///< of all routes
  std::vector<std::uint32_t> hop_slots_;   ///< by hop, index among the users of its link
  std::vector<Flows> flows_;               ///< by bundle
  std::vector<LinkState> links_;
  std::vector<Bundle> touched_;  ///< bundles that came or went since the last solve()
  std::vector<Bundle> opened_;   ///< bundles whose state is not State::kept
  std::vector<Link> concerned_;  ///< concerned links
  std::vector<Link> lowered_;    ///< links to be visited earlier
  std::vector<Visit> visits_;    ///< a heap
  std::vector<Bundle> changed_;
};

}  // namespace equarx::sim
