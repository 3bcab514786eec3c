// SimGrid settings and platform, and compatibility with its releases.
#pragma once

#include <array>
#include <vector>

#include <simgrid/s4u.hpp>

#include "sim/machine.hpp"

namespace equarx::sim {

/// Work per second of a host. Arbitrary, since core time is given in seconds.
inline constexpr double kCoreSpeed = 1e9;

/// An engine whose transfers take exactly bytes / rate + latency; on machines with shared links,
/// receivers add the latency. One per process.
///
/// An exclusive link is a FIFO. On a shared link each pair of chips stays in order, and pairs share
/// the rate max-min fairly, like flows through a router.
class SimgridEngine {
 public:
  explicit SimgridEngine(const Machine& machine);

  simgrid::s4u::Host* host(std::uint32_t rank) const { return hosts_[rank]; }
  simgrid::s4u::Link* link(LinkIndex index) const { return links_[index]; }
  simgrid::s4u::Engine& engine() { return engine_; }

  static simgrid::s4u::ActorPtr start_actor(const std::string& name, simgrid::s4u::Host* host,
                                            const std::function<void()>& code);

 private:
  simgrid::s4u::Engine engine_;
  std::vector<simgrid::s4u::Host*> hosts_;
  std::vector<simgrid::s4u::Link*> links_;
};

}  // namespace equarx::sim
