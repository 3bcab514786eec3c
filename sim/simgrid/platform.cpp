#include "sim/simgrid/platform.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <simgrid/version.h>

namespace equarx::sim {
namespace {

namespace s4u = simgrid::s4u;

// Thousands of chips must fit; the sanitizers' frames are larger.
#if defined(__SANITIZE_ADDRESS__)
constexpr int kStackKiB = 1024;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
constexpr int kStackKiB = 1024;
#else
constexpr int kStackKiB = 64;
#endif
#else
constexpr int kStackKiB = 64;
#endif

s4u::Engine make_engine() {
  // SimGrid's defaults describe TCP over Ethernet: slower and longer than asked for, with acknowledgements
  // in the other direction. These settings leave bytes / bandwidth + latency; tests hold them to it.
  std::vector<std::string> arguments = {
    "equarx-sim",
    "--cfg=network/model:CM02",
    "--cfg=network/bandwidth-factor:1",
    "--cfg=network/latency-factor:1",
    "--cfg=network/weight-S:0",
    "--cfg=network/TCP-gamma:0",
    "--cfg=network/crosstraffic:0",
#if SIMGRID_VERSION >= 33300
    "--cfg=precision/timing:1e-12",
#else
    "--cfg=surf/precision:1e-12",
#endif
    fmt::format("--cfg=contexts/stack-size:{}", kStackKiB),
    "--log=root.thres:critical",
    "--log=root.app:file:/dev/null",
  };
  std::vector<char*> pointers;
  for (std::string& argument : arguments) pointers.push_back(argument.data());
  int count = static_cast<int>(pointers.size());
  return s4u::Engine(&count, pointers.data());
}

#if SIMGRID_VERSION >= 40000
s4u::NetZone* add_zone(s4u::Engine& engine) {
  return engine.get_netzone_root()->add_netzone_full("slice");
}
s4u::Host* add_host(s4u::NetZone* zone, const std::string& name) {
  return zone->add_host(name, kCoreSpeed);
}
s4u::Link* add_link(s4u::NetZone* zone, const LinkSpec& link) {
  return zone->add_link(link.name, link.rate);
}
#else
s4u::NetZone* add_zone(s4u::Engine&) { return s4u::create_full_zone("slice"); }
s4u::Host* add_host(s4u::NetZone* zone, const std::string& name) {
  return zone->create_host(name, kCoreSpeed);
}
s4u::Link* add_link(s4u::NetZone* zone, const LinkSpec& link) {
  return zone->create_link(link.name, link.rate);
}
#endif

void add_route(s4u::NetZone* zone, s4u::Host* from, s4u::Host* to,
               const std::vector<s4u::LinkInRoute>& links) {
#if SIMGRID_VERSION >= 33500
  zone->add_route(from, to, links, false);
#else
  zone->add_route(from->get_netpoint(), to->get_netpoint(), nullptr, nullptr, links, false);
#endif
}

/// Every pair of chips that sends, with the way of its messages.
std::map<std::pair<std::uint32_t, std::uint32_t>, const Route*> routes_of_pairs(
    const Machine& machine) {
  std::map<std::pair<std::uint32_t, std::uint32_t>, const Route*> pairs;
  for (std::uint32_t rank = 0; rank < machine.ranks(); ++rank)
    for (const Way& way : machine.ways[rank])
      if (way.peer != rank) pairs.emplace(std::pair{rank, way.peer}, &way.route);
  return pairs;
}

}  // namespace

SimgridEngine::SimgridEngine(const Machine& machine) : engine_(make_engine()) {
  s4u::NetZone* zone = add_zone(engine_);
  for (const std::string& name : machine.chip_names) hosts_.push_back(add_host(zone, name));
  const auto pairs = routes_of_pairs(machine);
  const std::vector<std::uint32_t> users = users_of_links(machine);
  // SimGrid divides a link among flows by the inverse of their latencies. So that it does so fairly, it
  // gets none where links are shared, and the chips wait for them (Chip::wait).
  const bool shared = shares_links(machine);
  // One transfer at a time makes a link a FIFO; the next one's latency passes meanwhile.
  constexpr int kFifo = 1;
  for (LinkIndex index = 0; index < machine.links.size(); ++index) {
    const LinkSpec& spec = machine.links[index];
    s4u::Link* link = add_link(zone, spec);
    link->set_latency(shared ? 0.0 : spec.latency);
    if (users[index] <= 1) link->set_concurrency_limit(kFifo);
    link->seal();
    links_.push_back(link);
  }
  for (const auto& [pair, route] : pairs) {
    std::vector<s4u::LinkInRoute> way;
    bool shares = false;
    for (const LinkIndex index : *route) {
      way.emplace_back(links_[index]);
      shares = shares || users[index] > 1;
    }
    if (shares) {
      s4u::Link* queue = add_link(zone, {fmt::format("queue {} {}", pair.first, pair.second),
                                         bottleneck_rate(machine, *route), 0.0});
      queue->set_latency(0.0)->set_concurrency_limit(kFifo);
      queue->seal();
      way.emplace_back(queue);
    }
    add_route(zone, hosts_[pair.first], hosts_[pair.second], way);
  }
  for (std::size_t rank = 0; rank < machine.hbm.size();
       ++rank)  // for what its core reads and writes
    add_route(zone, hosts_[rank], hosts_[rank], {s4u::LinkInRoute(links_[machine.hbm[rank]])});
  zone->seal();
}

s4u::ActorPtr SimgridEngine::start_actor(const std::string& name, s4u::Host* host,
                                         const std::function<void()>& code) {
#if SIMGRID_VERSION >= 40100
  return host->add_actor(name, code);
#elif SIMGRID_VERSION >= 40000
  return s4u::Engine::get_instance()->add_actor(name, host, code);
#else
  return s4u::Actor::create(name, host, code);
#endif
}

}  // namespace equarx::sim
