#include "sim/engines/direct/shared_links.hpp"

#include <algorithm>
#include <functional>
#include <limits>
#include <map>
#include <numeric>
#include <utility>

namespace equarx::sim {
namespace {

/// Relative difference between times of simultaneous completions: above that between rates of alike
/// flows (FairRates), and far below the accuracy of times.
constexpr double kSimultaneous = 1e-12;

/// Disjoint-set forest.
class Sets {
 public:
  explicit Sets(std::size_t size) : above_(size) {
    std::iota(above_.begin(), above_.end(), std::size_t{0});
  }
  std::size_t find(std::size_t of) {
    while (above_[of] != of) of = above_[of] = above_[above_[of]];
    return of;
  }
  void join(std::size_t first, std::size_t second) { above_[find(first)] = find(second); }

 private:
  std::vector<std::size_t> above_;
};

/// Links of a route that can limit its flow: the shared links, and the slowest exclusive link if it
/// is slower than all of them.
Route limiting_links(const Machine& machine, const Pair& pair,
                     const std::vector<std::uint32_t>& users) {
  Route links;
  const LinkIndex* slowest = nullptr;
  double shared_rate = std::numeric_limits<double>::infinity();
  for (const LinkIndex& link : *pair.route) {
    if (users[link] > 1) {
      links.push_back(link);
      shared_rate = std::min(shared_rate, machine.links[link].rate);
    } else if (slowest == nullptr || machine.links[link].rate < machine.links[*slowest].rate) {
      slowest = &link;
    }
  }
  if (slowest != nullptr && machine.links[*slowest].rate < shared_rate) links.push_back(*slowest);
  return links;
}

/// Links and bundles of a component of the machine, numbered from 0.
struct PartPlan {
  std::vector<double> capacities;
  std::vector<std::vector<FairRates::Link>> routes;  ///< of bundles
  std::vector<std::uint32_t> bundles;
};

}  // namespace

SharedLinks::SharedLinks(const Machine& machine, const Wiring& wiring, std::uint32_t streams)
    : wiring_(wiring),
      streams_(streams),
      flows_(wiring.pairs().size() + machine.hbm.size() * streams),
      ends_(0) {
  make_parts(machine);
  ends_ = TimeHeap(bundles_.size());
}

/// Routes of flows with contended links; empty for the rest.
std::vector<Route> SharedLinks::flow_routes(const Machine& machine) const {
  std::vector<Route> routes;
  routes.reserve(flows_.size());
  for (const Pair& pair : wiring_.pairs())
    routes.push_back(pair.shared ? limiting_links(machine, pair, wiring_.users()) : Route{});
  for (const LinkIndex hbm : machine.hbm) routes.insert(routes.end(), streams_, Route{hbm});
  return routes;
}

void SharedLinks::make_parts(const Machine& machine) {
  const std::vector<Route> routes = flow_routes(machine);
  Sets sets(machine.links.size());
  for (const Route& route : routes)
    for (const LinkIndex link : route) sets.join(route.front(), link);
  constexpr std::uint32_t kNone = 0xFFFFFFFF;
  std::vector<std::uint32_t> part_of_set(machine.links.size(), kNone);
  std::vector<FairRates::Link> number_of_link(machine.links.size(), kNone);
  std::map<Route, std::uint32_t> bundle_of;
  std::vector<PartPlan> plans;
  for (std::uint32_t flow = 0; flow < flows_.size(); ++flow) {
    if (routes[flow].empty()) continue;
    const auto [known, is_new] =
        bundle_of.emplace(routes[flow], static_cast<std::uint32_t>(bundles_.size()));
    flows_[flow].bundle = known->second;
    if (!is_new) continue;
    std::uint32_t& part = part_of_set[sets.find(routes[flow].front())];
    if (part == kNone) {
      part = static_cast<std::uint32_t>(plans.size());
      plans.emplace_back();
    }
    PartPlan& plan = plans[part];
    plan.bundles.push_back(known->second);
    bundles_.push_back({part, static_cast<std::uint32_t>(plan.routes.size())});
    std::vector<FairRates::Link>& route = plan.routes.emplace_back();
    for (const LinkIndex link : routes[flow]) {
      if (number_of_link[link] == kNone) {
        number_of_link[link] = static_cast<FairRates::Link>(plan.capacities.size());
        plan.capacities.push_back(machine.links[link].rate);
      }
      route.push_back(number_of_link[link]);
    }
  }
  for (PartPlan& plan : plans)
    parts_.push_back({FairRates(plan.capacities, plan.routes), std::move(plan.bundles), false});
}

void SharedLinks::touch(Bundle& bundle) {
  Part& part = parts_[bundle.part];
  if (part.stale) return;
  part.stale = true;
  stale_.push_back(bundle.part);
}

void SharedLinks::push_goal(Bundle& bundle, const Goal& goal) {
  bundle.goals.push_back(goal);
  std::ranges::push_heap(bundle.goals, std::greater<>());
}

void SharedLinks::pop_goal(Bundle& bundle) {
  std::ranges::pop_heap(bundle.goals, std::greater<>());
  bundle.goals.pop_back();
}

/// Starts the first entry of a previously empty queue.
void SharedLinks::start(std::uint32_t number) {
  const Flow& flow = flows_[number];
  Bundle& bundle = bundles_[flow.bundle];
  // From 0, so that rounding errors do not grow.
  bundle.progress = bundle.goals.empty() ? 0.0 : bundle.progress_at(now_s_);
  bundle.since_s = now_s_;
  push_goal(bundle, {bundle.progress + flow.queue[flow.first].bytes, number});
  if (bundle.goals.size() > 1 && bundle.rate > 0.0) ends_.set(flow.bundle, bundle.end_s());
  parts_[bundle.part].rates.add(bundle.number);
  touch(bundle);
}

/// Stops a flow that is no longer in flight.
void SharedLinks::stop(Flow& flow) {
  flow.queue.clear();
  flow.first = 0;
  Bundle& bundle = bundles_[flow.bundle];
  if (bundle.goals.empty()) {
    bundle.rate = 0.0;
    ends_.erase(flow.bundle);
  }
  parts_[bundle.part].rates.remove(bundle.number);
  touch(bundle);
}

void SharedLinks::enqueue(std::uint32_t number, double bytes, const Cargo& cargo, double now_s) {
  advance_to(now_s);
  Flow& flow = flows_[number];
  const bool was_idle = flow.idle();
  flow.queue.push_back({bytes, cargo});
  if (was_idle) start(number);
}

void SharedLinks::send(std::uint32_t pair, double bytes, const Cargo& cargo, double now_s) {
  enqueue(pair, bytes, cargo, now_s);
}

void SharedLinks::access(std::uint32_t list, double bytes, double now_s) {
  enqueue(static_cast<std::uint32_t>(wiring_.pairs().size()) + list, bytes, {kCore, list}, now_s);
}

/// Advances the clock; rates are updated before time moves.
void SharedLinks::advance_to(double now_s) {
  if (now_s > now_s_) settle();
  now_s_ = now_s;
}

/// Updates the rates at the end of an instant, after all its starts and ends are registered.
void SharedLinks::settle() {
  for (const std::uint32_t stale : stale_) {
    Part& part = parts_[stale];
    part.stale = false;
    for (const FairRates::Bundle changed : part.rates.solve()) {
      const std::uint32_t number = part.bundles[changed];
      Bundle& bundle = bundles_[number];
      bundle.progress = bundle.progress_at(now_s_);
      bundle.since_s = now_s_;
      bundle.rate = part.rates.rate(changed);
      ends_.set(number, bundle.end_s());
    }
  }
  stale_.clear();
}

double SharedLinks::next_s() {
  settle();
  return ends_.earliest_s();
}

std::span<const SharedLinks::Cargo> SharedLinks::leave(double now_s) {
  advance_to(now_s);
  gone_.clear();
  // Completions within rounding error are simultaneous.
  const double until_s = now_s * (1.0 + kSimultaneous);
  while (ends_.earliest_s() <= until_s) {
    const std::uint32_t number = ends_.earliest();
    Bundle& bundle = bundles_[number];
    const Goal reached = bundle.goals.front();
    pop_goal(bundle);
    Flow& flow = flows_[reached.flow];
    gone_.push_back(flow.queue[flow.first++].cargo);
    if (flow.idle()) {
      stop(flow);
    } else {
      flow.compact();
      // The next entry continues at the same rate.
      push_goal(bundle, {reached.bytes + flow.queue[flow.first].bytes, reached.flow});
    }
    if (!bundle.goals.empty()) ends_.set(number, bundle.end_s());
  }
  return gone_;
}

std::span<const SharedLinks::Cargo> SharedLinks::fail(LinkIndex link, double now_s) {
  advance_to(now_s);
  gone_.clear();
  for (std::uint32_t pair = 0; pair < wiring_.pairs().size(); ++pair) {
    Flow& flow = flows_[pair];
    if (flow.idle()) continue;
    const Route& route = *wiring_.pairs()[pair].route;
    if (std::ranges::find(route, link) == route.end()) continue;
    for (; !flow.idle(); ++flow.first) gone_.push_back(flow.queue[flow.first].cargo);
    Bundle& bundle = bundles_[flow.bundle];
    std::erase_if(bundle.goals, [&](const Goal& goal) { return goal.flow == pair; });
    std::ranges::make_heap(bundle.goals, std::greater<>());
    stop(flow);
    if (!bundle.goals.empty() && bundle.rate > 0.0) ends_.set(flow.bundle, bundle.end_s());
  }
  return gone_;
}

}  // namespace equarx::sim
