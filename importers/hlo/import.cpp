#include "importers/hlo/import.hpp"

#include <algorithm>
#include <charconv>
#include <string_view>

#include <fmt/format.h>

#include "base/input/errors.hpp"
#include "base/input/json_text.hpp"
#include "base/os/printable.hpp"
#include "importers/common/machine_text.hpp"
#include "importers/hlo/audit.hpp"
#include "importers/hlo/chip_count.hpp"
#include "importers/hlo/flow_totals.hpp"
#include "importers/hlo/hlo_step.hpp"
#include "importers/hlo/parser.hpp"
#include "importers/hlo/partitioning.hpp"

namespace equarx::imports {
namespace {

using input::InputError;

void check_chips(const hlo::Module& module, const ProgramMachine& machine) {
  const std::uint32_t chips = machine.chips();
  if (chips != module.devices())
    throw InputError("", fmt::format("--topology: the program is for {} chip{} ({}), but the "
                                     "machine has {}",
                                     module.devices(), module.devices() == 1 ? "" : "s",
                                     chip_count_text(module), chips));
}

/// Chips per group; senders of a permute.
std::uint32_t chips_of(const hlo::CollectiveOp& op) {
  if (op.kind == hlo::CollectiveKind::permute) return static_cast<std::uint32_t>(op.pairs.size());
  return op.groups.empty() ? 0 : static_cast<std::uint32_t>(op.groups.front().size());
}

std::vector<ImportedOp> ops_of(const hlo::Flow& flow, const hlo::FlowTotals& totals,
                               const steps::HloStep& step, const steps::Mesh& mesh,
                               const HloOptions& options) {
  std::vector<ImportedOp> ops;
  for (std::size_t i = 0; i < flow.ops.size(); ++i) {
    const hlo::CollectiveOp& op = flow.ops[i];
    const steps::ImportedCollective& collective = step.collectives[i];
    ops.push_back({.group = collective.group,
                   .op_name = os::printable(op.op_name),
                   .kind = std::string(hlo::name(op.kind)),
                   .type = op.type,
                   .bytes = op.bytes,
                   .chips = chips_of(op),
                   .axes = axes_text(collective, mesh),
                   .times = totals.times[i],
                   .skip_reason = collective.skip_reason,
                   .is_permute = collective.permute.has_value(),
                   .quantized = is_quantized(collective, op.bytes, options)});
  }
  return ops;
}

}  // namespace

hlo::TripCounts read_trip_counts(const std::string& option, const std::vector<std::string>& texts) {
  constexpr std::uint64_t kMaxCount = 1'000'000'000;
  hlo::TripCounts counts;
  for (const std::string& text : texts) {
    const std::size_t equals = text.rfind('=');
    const auto count =
        whole_number(equals == std::string::npos ? text : text.substr(equals + 1), kMaxCount);
    if (!count)
      throw InputError("", fmt::format("{}: expected a trip count like 32 or, for one loop, "
                                       "while.5=32, not '{}'",
                                       option, text));
    if (equals == std::string::npos)
      counts.otherwise = *count;
    else
      counts.by_name[text.substr(0, equals)] = *count;
  }
  return counts;
}

hlo::CustomCalls read_custom_calls(const std::vector<std::string>& texts) {
  constexpr double kMost = 1e30;
  hlo::CustomCalls calls;
  for (const std::string& text : texts) {
    const std::size_t equals = text.rfind('=');
    const std::size_t colon = equals == std::string::npos ? equals : text.find(':', equals);
    const auto number = [&](std::size_t begin, std::size_t end) -> std::optional<double> {
      const char* const last = text.data() + std::min(end, text.size());
      double value = 0.0;
      const auto [stop, problem] = std::from_chars(text.data() + begin, last, value);
      const bool is_valid =
          problem == std::errc() && stop == last && value >= 0.0 && value <= kMost;
      return is_valid ? std::optional(value) : std::nullopt;
    };
    const bool has_name = equals != std::string::npos && equals > 0;
    const std::optional<double> flops = has_name ? number(equals + 1, colon) : std::nullopt;
    hlo::CustomCall call{.flops = flops.value_or(0.0), .bytes = {}};
    if (colon != std::string::npos) call.bytes = number(colon + 1, text.size());
    if (!flops || (colon != std::string::npos && !call.bytes))
      throw InputError("",
                       fmt::format("--custom-call: expected FLOPs of one call, like NAME=1.5e12, "
                                   "or with its bytes, NAME=1.5e12:2e9, not '{}'",
                                   text));
    calls[text.substr(0, equals)] = call;
  }
  return calls;
}

std::optional<std::uint32_t> read_chips(const std::string& text) {
  if (text.empty()) return std::nullopt;
  constexpr std::uint64_t kMaxChips = 1 << 24;
  const std::optional<std::uint64_t> chips = whole_number(text, kMaxChips);
  if (!chips || *chips == 0)
    throw InputError("", fmt::format("--chips: expected a number of chips like 8, not '{}'", text));
  return static_cast<std::uint32_t>(*chips);
}

bool is_program(std::string_view text) { return text.starts_with("HloModule"); }

std::string read_program(const std::string& path) {
  constexpr std::uintmax_t kMaxBytes = std::uintmax_t{1} << 30;
  return read_limited_file(path, kMaxBytes, "programs");
}

ImportedProgram import_hlo(std::string text, const HloOptions& options) {
  if (text.find('\0') != std::string::npos)
    throw InputError(
        "",
        "is not a text file; XLA writes HLO text with --xla_dump_hlo_as_text, JAX with "
        "compiled.as_text()");
  const ProgramMachine machine = read_machine(options);
  hlo::Module module = hlo::parse_module(std::move(text));
  check_partitioned(module);
  set_chip_count(module, options.chips);
  check_names(options.calls, module);
  check_chips(module, machine);
  const hlo::Flow flow = hlo::make_flow(module, options.counts, options.calls);
  const std::size_t instructions = module.instructions();
  const std::size_t computations = module.computations.size();
  const std::uint64_t devices = module.devices();
  const std::string name = module.name;
  if (!options.audit) module = {};  // takes more memory than the step
  const steps::Mesh mesh = mesh_for(
      machine, options, [&] { return steps::axes_for(flow, static_cast<std::uint32_t>(devices)); });
  const steps::HloStep step = input::at("", [&] { return hlo_step(flow, mesh); });
  const hlo::FlowTotals totals = totals_of(flow);
  ImportedProgram program{
      .name = name,
      .size = fmt::format("{} instructions in {} computations", instructions, computations),
      .counts = {{"instructions", instructions}, {"computations", computations}},
      .devices = devices,
      .totals = {.flops = totals.cost.flops,
                 .vector_ops = totals.cost.vector_ops + totals.cost.comparisons,
                 .hbm_bytes = totals.cost.hbm_bytes,
                 .to_host_bytes = totals.cost.to_host_bytes,
                 .from_host_bytes = totals.cost.from_host_bytes,
                 .collective_bytes = totals.collective_bytes},
      .ops = ops_of(flow, totals, step, mesh, options),
      .notes = {},
      .step = {},
      .audit = {}};
  for (const auto& [note, count] : flow.notes) program.notes[os::printable(note)] += count;
  if (options.audit) program.audit = hlo::audit(module, flow, step.collectives, module.text->text);
  module = {};
  program.step = step_json(step.graph, mesh, machine, options, program.ops);
  return program;
}

}  // namespace equarx::imports
