// SimGrid's settings and platform, and whatever differs between its releases.
#pragma once

#include <array>
#include <vector>

#include <simgrid/s4u.hpp>

#include "sim/machine.hpp"

namespace equarx::sim {

/// An engine with transfers that take bytes / rate + latency, nothing more. One per process.
class SimgridEngine {
 public:
  explicit SimgridEngine(const Machine& machine);

  simgrid::s4u::Host* host(std::uint32_t rank) const { return hosts_[rank]; }
  simgrid::s4u::Engine& engine() { return engine_; }

  static void start_actor(const std::string& name, simgrid::s4u::Host* host,
                          const std::function<void()>& code);

 private:
  simgrid::s4u::Engine engine_;
  std::vector<simgrid::s4u::Host*> hosts_;
};

}  // namespace equarx::sim
