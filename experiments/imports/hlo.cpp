#include "experiments/imports/hlo.hpp"

#include <algorithm>
#include <stdexcept>
#include <string_view>

#include <fmt/format.h>

#include "experiments/imports/machine_text.hpp"
#include "experiments/input/errors.hpp"
#include "experiments/input/json_text.hpp"
#include "models/hlo/parser.hpp"
#include "models/os/printable.hpp"
#include "models/steps/hlo_step.hpp"

namespace equarx::imports {
namespace {

using input::InputError;

hlo::Module parse(const std::string& text) {
  try {
    return hlo::parse_module(text);
  } catch (const hlo::TextError& error) {
    throw InputError("", error.what());
  }
}

hlo::Flow flow_of(const hlo::Module& module, const hlo::TripCounts& counts) {
  try {
    return hlo::make_flow(module, counts);
  } catch (const hlo::TextError& error) {
    throw InputError("", error.what());
  }
}

void check_chips(const hlo::Module& module, const ProgramMachine& machine) {
  const std::uint32_t chips = machine.chips();
  if (chips != module.devices())
    throw InputError("", fmt::format("--topology: the program is for {} chips (replica_count {} x "
                                     "num_partitions {}), and this machine has {}",
                                     module.devices(), module.replicas, module.partitions, chips));
}

/// Of a group; of a permute those that send.
std::uint32_t chips_of(const hlo::CollectiveSite& site) {
  if (site.kind == hlo::CollectiveKind::permute)
    return static_cast<std::uint32_t>(site.pairs.size());
  return site.groups.empty() ? 0 : static_cast<std::uint32_t>(site.groups.front().size());
}

std::vector<ImportedSite> sites_of(const hlo::Flow& flow, const hlo::FlowTotals& totals,
                                   const steps::HloStep& step, const steps::Mesh& mesh,
                                   const HloOptions& options) {
  std::vector<ImportedSite> sites;
  for (std::size_t i = 0; i < flow.sites.size(); ++i) {
    const hlo::CollectiveSite& site = flow.sites[i];
    const steps::ImportedCollective& collective = step.collectives[i];
    if (totals.times[i] <= 0.0) continue;  // in the branch that is not taken
    sites.push_back({.group = collective.group,
                     .op_name = os::printable(site.op_name),
                     .kind = std::string(hlo::name(site.kind)),
                     .type = site.type,
                     .bytes = site.bytes,
                     .chips = chips_of(site),
                     .axes = axes_text(collective, mesh),
                     .times = totals.times[i],
                     .obstacle = collective.obstacle,
                     .is_permute = collective.permute.has_value(),
                     .quantized = is_quantized(collective, site.bytes, options)});
  }
  return sites;
}

}  // namespace

hlo::TripCounts read_trip_counts(const std::string& option, const std::vector<std::string>& texts) {
  constexpr std::uint64_t kMost = 1'000'000'000;
  hlo::TripCounts counts;
  for (const std::string& text : texts) {
    const std::size_t equals = text.rfind('=');
    const auto count =
        whole_number(equals == std::string::npos ? text : text.substr(equals + 1), kMost);
    if (!count)
      throw InputError("", fmt::format("{}: expected a count, like 32, or that of a loop, like "
                                       "while.5=32, and not '{}'",
                                       option, text));
    if (equals == std::string::npos)
      counts.otherwise = *count;
    else
      counts.by_name[text.substr(0, equals)] = *count;
  }
  return counts;
}

bool is_program(std::string_view text) { return text.starts_with("HloModule"); }

std::string read_program(const std::string& path) {
  constexpr std::uintmax_t kMostBytes = std::uintmax_t{1} << 30;
  return read_file_of_others(path, kMostBytes, "programs");
}

ImportedProgram import_hlo(const std::string& text, const HloOptions& options) {
  if (text.find('\0') != std::string::npos)
    throw InputError("",
                     "is no text; XLA writes HLO as text by --xla_dump_hlo_as_text, and JAX by "
                     "compiled.as_text()");
  const ProgramMachine machine = read_machine(options);
  const hlo::Module module = parse(text);
  check_chips(module, machine);
  const hlo::Flow flow = flow_of(module, options.counts);
  const steps::Mesh mesh = mesh_for(machine, options, [&] {
    return steps::axes_for(flow, static_cast<std::uint32_t>(module.devices()));
  });
  steps::HloStep step;
  try {
    step = hlo_step(flow, mesh);
  } catch (const std::invalid_argument& error) {
    throw InputError("", error.what());
  }
  const hlo::FlowTotals totals = totals_of(flow);
  const std::size_t computations = module.computations.size();
  ImportedProgram made{
      .name = module.name,
      .size =
          fmt::format("{} instructions in {} computations", module.instructions(), computations),
      .counts = {{"instructions", module.instructions()}, {"computations", computations}},
      .devices = module.devices(),
      .totals = {.flops = totals.cost.flops,
                 .vector_ops = totals.cost.vector_ops,
                 .hbm_bytes = totals.cost.hbm_bytes,
                 .to_host_bytes = totals.cost.to_host_bytes,
                 .from_host_bytes = totals.cost.from_host_bytes,
                 .collective_bytes = totals.collective_bytes},
      .sites = sites_of(flow, totals, step, mesh, options),
      .notes = {},
      .step = {}};
  for (const auto& [note, count] : flow.notes) made.notes[os::printable(note)] += count;
  made.step = step_json(step.graph, mesh, machine, options, made.sites);
  return made;
}

}  // namespace equarx::imports
