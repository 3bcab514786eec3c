#include "sim/engines/simgrid/simulation.hpp"

#include <deque>

#include <simgrid/s4u.hpp>
#include <unistd.h>

#include "sim/engines/simgrid/chip_actor.hpp"
#include "sim/engines/simgrid/platform.hpp"
#include "sim/timeline.hpp"

namespace equarx::sim {
namespace {

namespace s4u = simgrid::s4u;

/// Schedules the link failures.
void break_links(const Machine& machine, SimgridEngine& platform) {
  for (const LinkFailure& failure : machine.failures) {
    s4u::Link* link = platform.link(failure.link);
    SimgridEngine::start_actor("failure", platform.host(0), [link, failure] {
      s4u::this_actor::sleep_until(failure.time_s);
      link->turn_off();
    })->daemonize();
  }
}

}  // namespace

void simulate_here(const SimgridRequest& request) {
  const Machine& machine = request.machine;
  SimgridEngine platform(machine);
  Run run(request.timelines, machine, request.options.traced, request.progress);
  std::deque<ChipStream> streams;
  for (collectives::Rank rank = 0; rank < machine.ranks(); ++rank)
    for (std::uint32_t stream = 0; stream < request.timelines.streams; ++stream) {
      ChipStream& actor = streams.emplace_back(run, rank, stream);
      SimgridEngine::start_actor(machine.chip_names[rank], platform.host(rank),
                                 [&actor] { actor.run(); });
    }
  break_links(machine, platform);
  s4u::Engine::on_deadlock_cb([&request] {
    request.progress.deadlocked = true;
    _exit(1);
  });
  platform.engine().run();
  run.drop_lost_transfers();
  sort_trace(run.result.trace);
  request.result = std::move(run.result);
}

}  // namespace equarx::sim
