#include "experiments/trace/file.hpp"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/input/errors.hpp"
#include "base/input/json.hpp"
#include "base/input/nearest.hpp"
#include "base/output/provenance.hpp"
#include "base/units/quantity.hpp"
#include "experiments/config/json.hpp"
#include "experiments/trace/traced_run.hpp"

namespace equarx::trace {
namespace {

using collectives::InstructionId;
using collectives::Op;
using collectives::Program;
using collectives::Rank;

/// Prefix sums of the hops of the ranks' routes, for each channel: ranks + 1 values.
std::vector<std::uint64_t> hops_before(const Program& program, const sim::Machine& machine) {
  std::vector<std::uint64_t> hops;
  hops.reserve(program.channels.size() * (machine.ranks() + std::size_t{1}));
  for (std::size_t channel = 0; channel < program.channels.size(); ++channel) {
    std::uint64_t sum = 0;
    for (Rank rank = 0; rank < machine.ranks(); ++rank) {
      hops.push_back(sum);
      sum += machine.hops(machine.out_ports[rank][channel]);
    }
    hops.push_back(sum);
  }
  return hops;
}

std::string no_such_collective(const config::ExperimentConfig& config, const std::string& label) {
  std::vector<std::string_view> labels;
  for (const config::CollectiveConfig& collective : config.collectives)
    labels.push_back(collective.label);
  return fmt::format("--trace-run '{}': no collective has this label; available: {}", label,
                     input::list_of(labels));
}

void name_processes(const TracedRun& run) {
  for (Rank rank = 0; rank < run.machine.ranks(); ++rank) {
    const std::string chip =
        run.plan.simulated.symmetric
            ? fmt::format("representative chip {} ({} of {} chips simulated)", rank,
                          run.machine.ranks(), run.program.ranks())
            : fmt::format("chip {} (rank {})", run.machine.chip_names[rank], rank);
    run.writer.name_process(run.process(rank), fmt::format("{}: {}", run.plan.config.label, chip));
    run.writer.name_track({run.process(rank), kCore}, "core");
    for (std::size_t channel = 0; channel < run.program.channels.size(); ++channel)
      run.writer.name_track(run.dma_track(rank, channel), run.dma_name(channel));
  }
  run.writer.name_process(run.links_process(), fmt::format("{}: links", run.plan.config.label));
}

/// Number of processes written by write_trace(): one per simulated chip, and one for all links.
std::uint32_t trace_processes(const plan::CollectivePlan& plan) {
  return plan.simulated.machine().ranks() + 1;
}

/// Writes the trace of a collective, in processes from `first_process` on (docs/traces.md).
/// Returns an index of the trace: label, time, and the processes of the chips and of the links.
input::Json write_trace(TraceEventWriter& writer, const plan::CollectivePlan& plan,
                        const sim::TimeResult& time, std::uint32_t first_process) {
  const TracedRun run(writer, plan, time, first_process);
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

}  // namespace

std::uint64_t most_trace_events(const plan::CollectivePlan& plan) {
  constexpr std::uint64_t kPerTransfer = 5;  // slice, queued and dequeued, both ends of the arrow
  const Program& program = plan.program;
  const sim::Machine& machine = plan.simulated.machine();
  const std::vector<std::uint64_t> hops = hops_before(program, machine);
  std::uint64_t events = 0;
  for (InstructionId id = 0; id < program.instructions.size(); ++id) {
    const collectives::Instruction& instruction = program.instructions[id];
    const std::uint64_t first = std::min(instruction.ranks.first, machine.ranks());
    const std::uint64_t end =
        std::min(std::uint64_t{instruction.ranks.last} + 1, std::uint64_t{machine.ranks()});
    // With counts an upper limit: ranks skip empty tiles.
    const std::uint64_t ranks = end > first ? end - first : 0;
    if (plan.costs.core_s[id] > 0.0) events += ranks;
    if (instruction.op == Op::wait) events += ranks;  // idle
    if (instruction.op != Op::send) continue;
    const std::size_t channel = program.messages[instruction.message].channel;
    const std::uint64_t* hops_to = &hops[channel * (machine.ranks() + std::size_t{1})];
    events += kPerTransfer * ranks + (ranks == 0 ? 0 : hops_to[end] - hops_to[first]);
  }
  return events + 2 * machine.ranks();
}

TraceFile::TraceFile(std::ostream& out, const config::ExperimentConfig& config, std::string label)
    : config_(config), label_(std::move(label)), writer_(out), groups_(input::Json::array()) {
  if (!label_.empty() &&
      std::ranges::find(config.collectives, label_, &config::CollectiveConfig::label) ==
          config.collectives.end())
    throw input::InputError("", no_such_collective(config, label_));
}

bool TraceFile::selects(const plan::CollectivePlan& plan) const {
  return label_.empty() || plan.config.label == label_;
}

void TraceFile::check_size(std::span<const plan::CollectivePlan* const> plans) const {
  std::uint64_t events = 0;
  for (const plan::CollectivePlan* plan : plans)
    if (selects(*plan)) events += most_trace_events(*plan);
  if (events <= kMostTraceEvents) return;
  constexpr double kBytesPerEvent = 230.0;  // measured
  throw input::InputError(
      "", fmt::format("--trace: the trace would have {} events, about {}, but at most {} are "
                      "supported; {}use a smaller slice or tensor, or fewer minishards and "
                      "microshards",
                      events, units::bytes_text(kBytesPerEvent * static_cast<double>(events)),
                      kMostTraceEvents,
                      label_.empty() ? "trace one collective (--trace-run LABEL), or " : ""));
}

void TraceFile::add(const plan::CollectivePlan& plan, const sim::TimeResult& time) {
  groups_->push_back(write_trace(writer_, plan, time, next_process_));
  next_process_ += trace_processes(plan);
}

void TraceFile::finish() {
  const input::Json config = to_json(config_);
  writer_.finish({{"program", "equarx-sim"},
                  {"version", output::version()},
                  {"config_hash", output::config_hash(config)},
                  {"config", config},
                  {"calibrated", config_.chip.is_calibrated()},
                  {"runs", *groups_}});
}

}  // namespace equarx::trace
