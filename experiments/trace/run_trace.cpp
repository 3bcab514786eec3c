#include "experiments/trace/run_trace.hpp"

#include <string>
#include <utility>

#include <fmt/format.h>

#include "experiments/input/json.hpp"
#include "experiments/trace/traced_run.hpp"

namespace equarx::trace {
namespace {

using collectives::Rank;

void name_processes(const TracedRun& run) {
  for (Rank rank = 0; rank < run.machine.ranks(); ++rank) {
    const std::string which =
        run.plan.simulated.symmetric
            ? fmt::format("representative {} of {}, which stand for all {} chips", rank,
                          run.machine.ranks(), run.program.ranks())
            : fmt::format("chip {} (rank {})", run.machine.chip_names[rank], rank);
    run.writer.name_process(run.process(rank), fmt::format("{}: {}", run.plan.config.label, which));
    run.writer.name_track({run.process(rank), kCore},
                          run.shares_core ? "core: collectives" : "core");
    if (run.shares_core) run.writer.name_track({run.process(rank), kOtherWork}, "core: other work");
    for (std::size_t channel = 0; channel < run.program.channels.size(); ++channel)
      run.writer.name_track(run.dma_track(rank, channel), run.dma_name(channel));
  }
  run.writer.name_process(run.links_process(), fmt::format("{}: links", run.plan.config.label));
}

}  // namespace

std::uint32_t trace_processes(const plan::CollectivePlan& plan) {
  return plan.simulated.machine.ranks() + 1;
}

input::Json write_trace(TraceEventWriter& writer, const plan::CollectivePlan& plan,
                        const sim::TimeResult& time, bool shares_core,
                        std::uint32_t first_process) {
  const TracedRun run(writer, plan, time, shares_core, first_process);
  name_processes(run);
  write_cores(run);
  write_transfers(run);
  write_links(run);
  input::Json chips = input::Json::array();
  for (Rank rank = 0; rank < run.machine.ranks(); ++rank)
    chips.push_back({{"pid", run.process(rank)}, {"name", run.machine.chip_names[rank]}});
  return {{"label", plan.config.label},
          {"algorithm", plan.config.algorithm->name},
          {"time_s", time.time_s},
          {"chips_of_collective", run.program.ranks()},
          {"representatives", plan.simulated.symmetric},
          {"chips", std::move(chips)},
          {"links_pid", run.links_process()}};
}

}  // namespace equarx::trace
