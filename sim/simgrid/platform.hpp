// SimGrid's settings and platform, and whatever differs between its releases.
#pragma once

#include <array>
#include <vector>

#include <simgrid/s4u.hpp>

#include "sim/machine.hpp"

namespace equarx::sim {

/// Work that a host does in one second. Core time is given in seconds, so any number would do.
inline constexpr double kCoreSpeed = 1e9;

/// An engine with transfers that take bytes / rate + latency, nothing more; on a machine that shares
/// links, the latency is left to whoever receives. One per process.
///
/// A link that only one pair of chips uses is a FIFO. Where several do, each pair keeps its order, and
/// they share the link's rate max-min fairly, as flows through a router do.
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
