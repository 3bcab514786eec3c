#include "sim/engines/simgrid/platform.hpp"

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

// Small enough for thousands of chips; sanitizers need larger frames.
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
  // SimGrid's defaults model TCP over Ethernet: correction factors on bandwidth and latency, and
  // acknowledgements in the reverse direction. These settings reduce it to bytes / bandwidth +
  // latency, as verified by tests.
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

/// Routes of all communicating pairs of chips.
std::map<std::pair<std::uint32_t, std::uint32_t>, const Route*> routes_of_pairs(
    const Machine& machine) {
  std::map<std::pair<std::uint32_t, std::uint32_t>, const Route*> pairs;
  for (std::uint32_t rank = 0; rank < machine.ranks(); ++rank)
    for (const OutPort& port : machine.out_ports[rank])
      if (port.peer != rank) pairs.emplace(std::pair{rank, port.peer}, &port.route);
  return pairs;
}

}  // namespace

SimgridEngine::SimgridEngine(const Machine& machine) : engine_(make_engine()) {
  s4u::NetZone* zone = add_zone(engine_);
  for (const std::string& name : machine.chip_names) hosts_.push_back(add_host(zone, name));
  const auto pairs = routes_of_pairs(machine);
  const std::vector<std::uint32_t> users = users_of_links(machine);
  // SimGrid shares a link among flows in inverse proportion to their latencies. For fair sharing,
  // shared machines have zero link latency, and receivers wait for it instead
  // (ChipStream::receive).
  const bool shared = shares_links(machine);
  // One transfer at a time makes a link a FIFO; the latency of the next transfer overlaps.
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
    std::vector<s4u::LinkInRoute> s4u_links;
    bool shares = false;
    for (const LinkIndex index : *route) {
      s4u_links.emplace_back(links_[index]);
      shares = shares || users[index] > 1;
    }
    if (shares) {
      s4u::Link* queue = add_link(zone, {fmt::format("queue {} {}", pair.first, pair.second),
                                         bottleneck_rate(machine, *route), 0.0});
      queue->set_latency(0.0)->set_concurrency_limit(kFifo);
      queue->seal();
      s4u_links.emplace_back(queue);
    }
    add_route(zone, hosts_[pair.first], hosts_[pair.second], s4u_links);
  }
  for (std::size_t rank = 0; rank < machine.hbm.size(); ++rank)  // for accesses by the core
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
