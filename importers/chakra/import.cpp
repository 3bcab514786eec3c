#include "importers/chakra/import.hpp"

#include <algorithm>
#include <filesystem>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "base/input/errors.hpp"
#include "base/input/json.hpp"
#include "base/input/json_text.hpp"
#include "base/os/printable.hpp"
#include "experiments/step/plan.hpp"
#include "importers/chakra/chakra_traces.hpp"
#include "importers/chakra/file.hpp"
#include "importers/common/machine_text.hpp"
#include "models/steps/roles.hpp"

namespace equarx::imports {
namespace {

using input::InputError;
using input::Json;
using steps::ChakraGroups;

constexpr const char* kSuffix = ".et";
constexpr std::uint32_t kMaxTraces = 65536;

std::vector<std::uint32_t> chips_of(const Json& json, const std::string& pointer) {
  std::vector<std::uint32_t> chips;
  if (!json.is_array()) throw InputError(pointer, "expected a list of chips, like [0, 1]");
  for (const Json& chip : json) {
    if (!chip.is_number_unsigned() || chip.get<std::uint64_t>() >= kMaxTraces)
      throw InputError(pointer, fmt::format("'{}' is not a chip number", chip.dump()));
    chips.push_back(chip.get<std::uint32_t>());
  }
  return chips;
}

/// Parses ASTRA-sim's communicator groups: {"1": [0, 1]}.
ChakraGroups groups_of_file(const std::string& text) {
  ChakraGroups groups;
  if (text.empty()) return groups;
  const Json json = input::parse_json(text);
  if (!json.is_object()) throw InputError("", "expected groups of chips, like {\"1\": [0, 1]}");
  for (const auto& [name, chips] : json.items()) groups[name] = chips_of(chips, "/" + name);
  return groups;
}

/// PyTorch stores its process groups in a metadata node: a JSON list of objects, in quotes and
/// brackets.
void add_groups_of_metadata(const chakra::Trace& trace, ChakraGroups& groups) {
  constexpr std::size_t kQuotes = 2;  // on each side
  for (const chakra::Node& node : trace.nodes) {
    if (node.kind != chakra::NodeKind::metadata || node.inputs.size() < 2 * kQuotes) continue;
    const Json json =
        Json::parse(node.inputs.substr(kQuotes, node.inputs.size() - 2 * kQuotes), nullptr, false);
    if (!json.is_array()) continue;
    for (const Json& group : json)
      if (group.is_object() && group.contains("pg_name") && group["pg_name"].is_string() &&
          group.contains("ranks"))
        groups.emplace(group["pg_name"].get<std::string>(),
                       chips_of(group["ranks"], fmt::format("node {}", node.id)));
  }
}

steps::ChakraTraces parse_traces(const std::vector<TraceFile>& files, std::uint32_t chips,
                                 const ChakraImportOptions& options) {
  steps::ChakraTraces traces{.chips = {}, .devices = chips, .groups = {}};
  traces.groups = input::within("--groups", [&] { return groups_of_file(options.groups); });
  if (files.size() != 1 && files.size() != chips)
    throw InputError("", fmt::format("--topology: there are traces of {} chips, but the machine "
                                     "has {}",
                                     files.size(), chips));
  for (const TraceFile& file : files) {
    traces.chips.push_back(
        input::within("trace " + file.path, [&] { return chakra::read_trace(file.bytes); }));
    add_groups_of_metadata(traces.chips.back(), traces.groups);
  }
  return traces;
}

std::vector<ImportedOp> ops_of(const steps::ChakraStep& step, const steps::Mesh& mesh,
                               const ChakraImportOptions& options) {
  std::vector<ImportedOp> ops;
  for (const steps::ChakraCollective& collective : step.collectives)
    ops.push_back({.group = os::printable(collective.imported.group),
                   .op_name = os::printable(collective.name),
                   .kind = collective.kind,
                   .type = std::string(numerics::name(options.dtype)),
                   .bytes = collective.bytes,
                   .chips = collective.chips,
                   .axes = axes_text(collective.imported, mesh),
                   .times = collective.times,
                   .skip_reason = collective.imported.skip_reason,
                   .is_permute = collective.imported.permute.has_value(),
                   .quantized = is_quantized(collective.imported, collective.bytes, options)});
  return ops;
}

void add(const steps::Task& task, ProgramTotals& totals) {
  constexpr double kBitsPerByte = 8.0;
  if (const auto* work = std::get_if<steps::Computation>(&task.work))
    for (const workloads::Operation& operation : work->operations) {
      totals.flops += operation.flops;
      totals.hbm_bytes += operation.hbm_bytes();
    }
  if (const auto* work = std::get_if<steps::HostTransfer>(&task.work))
    (work->direction == steps::HostTransfer::Direction::to_host ? totals.to_host_bytes
                                                                : totals.from_host_bytes) +=
        work->bytes;
  if (const auto* call = std::get_if<steps::CollectiveCall>(&task.work))
    totals.collective_bytes += static_cast<double>(call->elements) *
                               static_cast<double>(numerics::element_bits(call->dtype)) /
                               kBitsPerByte;
  if (const auto* permute = std::get_if<steps::Permute>(&task.work))
    totals.collective_bytes += static_cast<double>(permute->bytes);
}

/// The largest totals of any chip, each for itself.
ProgramTotals totals_of_step(const steps::ChakraStep& step, std::uint32_t chips) {
  const steps::Roles roles(step.graph, chips);
  ProgramTotals most;
  for (const std::uint32_t chip : roles.representatives()) {
    ProgramTotals totals;
    for (steps::TaskId task = 0; task < step.graph.tasks.size(); ++task)
      if (roles.runs(chip, task)) add(step.graph.tasks[task], totals);
    most.flops = std::max(most.flops, totals.flops);
    most.hbm_bytes = std::max(most.hbm_bytes, totals.hbm_bytes);
    most.to_host_bytes = std::max(most.to_host_bytes, totals.to_host_bytes);
    most.from_host_bytes = std::max(most.from_host_bytes, totals.from_host_bytes);
    most.collective_bytes = std::max(most.collective_bytes, totals.collective_bytes);
  }
  most.differ = roles.differ();
  return most;
}

}  // namespace

std::string trace_path(const std::string& prefix, std::uint32_t chip) {
  return fmt::format("{}.{}{}", prefix, chip, kSuffix);
}

std::vector<TraceFile> read_traces(const std::string& path) {
  if (path.ends_with(kSuffix)) return {{path, input::read_file(path)}};
  std::vector<TraceFile> files;
  std::error_code ignored;
  for (std::uint32_t chip = 0; std::filesystem::exists(trace_path(path, chip), ignored); ++chip) {
    if (chip == kMaxTraces) throw InputError("", fmt::format("more than {} traces", kMaxTraces));
    files.push_back({trace_path(path, chip), input::read_file(trace_path(path, chip))});
  }
  if (files.empty())
    throw InputError("", fmt::format("{} does not exist; give the prefix before .0.et, or one file "
                                     "that ends in .et",
                                     trace_path(path, 0)));
  return files;
}

ImportedProgram import_chakra(const std::string& name, const std::vector<TraceFile>& files,
                              const ChakraImportOptions& options) {
  const ProgramMachine machine = read_machine(options);
  const steps::ChakraTraces traces = parse_traces(files, machine.chips(), options);
  return input::at("", [&] {
    const steps::Mesh mesh = mesh_for(machine, options, [&] { return steps::axes_for(traces); });
    const steps::ChakraStep step = chakra_step(
        traces, mesh, {.dtype = options.dtype, .recorded_times = options.recorded_times});
    std::size_t nodes = 0;  // of the longest trace
    for (const chakra::Trace& trace : traces.chips) nodes = std::max(nodes, trace.nodes.size());
    ImportedProgram program{.name = os::printable(name),
                            .size = fmt::format("{} nodes in {} {}", nodes, files.size(),
                                                files.size() == 1 ? "trace" : "traces"),
                            .counts = {{"nodes", nodes}, {"traces", files.size()}},
                            .devices = machine.chips(),
                            .totals = totals_of_step(step, machine.chips()),
                            .ops = ops_of(step, mesh, options),
                            .notes = step.notes,
                            .step = {}};
    program.step = step_json(step.graph, mesh, machine, options, program.ops);
    return program;
  });
}

ChakraExport::ChakraExport(const config::StepConfig& config)
    : config_(config), core_s_(step::Planner(config).step().core_s) {}

std::string ChakraExport::trace(std::uint32_t chip) const {
  return write_trace(chakra_trace(config_.graph, config_.mesh, core_s_, chip));
}

std::string ChakraExport::groups() const {
  Json json = Json::object();
  for (const auto& [name, chips] : steps::chakra_groups(config_.graph, config_.mesh))
    json[name] = chips;
  return json.dump(2) + "\n";
}

}  // namespace equarx::imports
