#include "sim/time_executor.hpp"

#include <deque>
#include <memory>

#include <fmt/format.h>
#include <simgrid/s4u.hpp>
#include <unistd.h>

#include "sim/child_process.hpp"
#include "sim/chip_actor.hpp"
#include "sim/result_bytes.hpp"
#include "sim/simgrid_platform.hpp"
#include "sim/timeline.hpp"

namespace equarx::sim {
namespace {

namespace s4u = simgrid::s4u;
/// Turns links off when their time has come.
void break_links(const Machine& machine, SimgridEngine& platform) {
  for (const LinkFailure& failure : machine.failures) {
    s4u::Link* link = platform.link(failure.link);
    SimgridEngine::start_actor("failure", platform.host(0), [link, failure] {
      s4u::this_actor::sleep_until(failure.time_s);
      link->turn_off();
    })->daemonize();
  }
}

std::string place_of(const collectives::Program& program, const Machine& machine,
                     const Progress& progress, std::uint32_t rank) {
  return fmt::format("chip {} (rank {}) at: {}", machine.chip_names[rank], rank,
                     describe(program, progress.chips[rank].instruction));
}

std::string explain(const collectives::Program& program, const Machine& machine,
                    const Progress& progress, const std::string& failure) {
  if (!progress.deadlocked)
    return fmt::format("the simulation crashed ({}); last active: {}", failure,
                       place_of(program, machine, progress, progress.active_rank));
  constexpr std::size_t kShown = 4;
  std::string text = "the simulation deadlocked";
  std::size_t stuck = 0;
  for (std::uint32_t rank = 0; rank < machine.ranks(); ++rank) {
    if (progress.chips[rank].done) continue;
    if (stuck < kShown) text += "; " + place_of(program, machine, progress, rank);
    ++stuck;
  }
  return stuck > kShown ? fmt::format("{}; and {} more chips", text, stuck - kShown) : text;
}

}  // namespace

namespace detail {

TimeResult simulate_here(const collectives::Program& program, const Machine& machine,
                         const Costs& costs, const SimulationOptions& options, Progress& progress) {
  const Timelines timelines =
      make_timelines(program, costs, machine.ranks(), options.schedule, options.traced);
  SimgridEngine platform(machine);
  Run run(timelines, machine, program.channels.size(), options.traced, progress);
  std::deque<Chip> chips;
  for (collectives::Rank rank = 0; rank < machine.ranks(); ++rank) {
    Chip& chip = chips.emplace_back(run, rank);
    SimgridEngine::start_actor(machine.chip_names[rank], platform.host(rank),
                               [&chip] { chip.live(); });
    if (!timelines.beside.empty())
      SimgridEngine::start_actor(machine.chip_names[rank], platform.host(rank),
                                 [&chip] { chip.compute(); });
  }
  break_links(machine, platform);
  s4u::Engine::on_deadlock_cb([&progress] {
    progress.deadlocked = true;
    _exit(1);
  });
  platform.engine().run();
  run.drop_lost_transfers();
  return run.result;
}

}  // namespace detail

TimeResult simulate(const collectives::Program& program, const Machine& machine, const Costs& costs,
                    const SimulationOptions& options) {
  const std::size_t chips_bytes = machine.ranks() * sizeof(Progress::Chip);
  const SharedMemory memory(sizeof(Progress) + chips_bytes);
  auto* progress = std::construct_at(static_cast<Progress*>(memory.data()));
  auto* chips = reinterpret_cast<Progress::Chip*>(progress + 1);
  std::uninitialized_value_construct_n(chips, machine.ranks());
  progress->chips = std::span(chips, machine.ranks());

  const ChildOutcome outcome = run_in_child(
      [&] { return to_bytes(detail::simulate_here(program, machine, costs, options, *progress)); });
  if (!outcome.succeeded)
    throw SimulationError(explain(program, machine, *progress, outcome.failure));
  return from_bytes(outcome.bytes);
}

}  // namespace equarx::sim
