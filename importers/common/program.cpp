#include "importers/common/program.hpp"

#include <algorithm>
#include <optional>
#include <string_view>

#include <fmt/format.h>

#include "base/input/errors.hpp"
#include "base/input/json.hpp"
#include "experiments/config/json.hpp"
#include "experiments/config/mesh_json.hpp"
#include "experiments/config/step.hpp"
#include "experiments/config/tasks_json.hpp"
#include "importers/common/machine_text.hpp"
#include "models/steps/chip_lists.hpp"

namespace equarx::imports {
namespace {

using input::InputError;
using input::Json;

constexpr std::uint32_t kMaxAxisLength = 1 << 24;

/// Rules that select the quantized collectives. They name either those collectives or, before a
/// catch-all rule, the unquantized ones, whichever are fewer.
Json rules_for(const std::string& format, const std::vector<ImportedOp>& ops) {
  const auto simulated = [](const ImportedOp& op) {
    return op.skip_reason.empty() && !op.is_permute;
  };
  const auto quantized = static_cast<std::size_t>(
      std::ranges::count_if(ops, [](const ImportedOp& op) { return op.quantized; }));
  const auto all = static_cast<std::size_t>(std::ranges::count_if(ops, simulated));
  const bool name_others = all - quantized < quantized;
  Json rules = Json::array();
  for (const ImportedOp& op : ops) {
    if (!simulated(op) || op.quantized == name_others) continue;
    Json rule = {{"where", {{"group", op.group}}}};
    if (op.quantized) rule["format"] = format;
    rules.push_back(rule);
  }
  if (name_others) rules.push_back({{"format", format}});
  return rules;
}

Json variants_for(const ProgramOptions& options, const std::vector<ImportedOp>& ops) {
  Json variants = Json::array({{{"label", "baseline"}}});
  if (std::ranges::none_of(ops, [](const ImportedOp& op) { return op.quantized; })) return variants;
  for (const std::string& format : options.formats)
    variants.push_back({{"label", format}, {"quantize", rules_for(format, ops)}});
  return variants;
}

}  // namespace

std::vector<std::pair<std::string, std::uint32_t>> read_lengths(const std::string& option,
                                                                const std::string& text) {
  std::vector<std::pair<std::string, std::uint32_t>> lengths;
  std::string_view rest = text;
  while (!rest.empty()) {
    const std::string_view one = rest.substr(0, rest.find(','));
    rest.remove_prefix(std::min(one.size() + 1, rest.size()));
    const std::size_t equals = one.find('=');
    const auto length = equals == std::string_view::npos
                            ? std::nullopt
                            : whole_number(one.substr(equals + 1), kMaxAxisLength);
    if (!length || *length == 0 || equals == 0)
      throw InputError("", fmt::format("{}: expected axes, slowest first, like data=2,model=8, "
                                       "not '{}'",
                                       option, one));
    const std::string name(one.substr(0, equals));
    for (const auto& [other, of] : lengths)
      if (other == name) throw InputError("", fmt::format("{}: duplicate axis '{}'", option, name));
    lengths.emplace_back(name, static_cast<std::uint32_t>(*length));
  }
  return lengths;
}

std::uint32_t ProgramMachine::chips() const { return config::count_chips(config); }

ProgramMachine read_machine(const ProgramOptions& options) {
  ProgramMachine machine{.hardware = options.hardware,
                         .topology = topology_json(options.topology, "the program"),
                         .config = {}};
  Json json = {{"hardware", machine.hardware}, {"topology", *machine.topology}};
  input::ObjectReader reader(json, "");
  const config::ExperimentConfig config = config::read_machine(reader);
  machine.config = config.topology;
  machine.hardware = config.hardware;
  if (machine.config.kind == config::TopologyKind::slice) {
    Json topology = *machine.topology;
    topology["slice"] = topology::format_lengths(machine.config.shape.lengths);
    machine.topology = std::move(topology);
  }
  return machine;
}

steps::Mesh mesh_for(const ProgramMachine& machine, const ProgramOptions& options,
                     const std::function<std::vector<steps::MeshAxis>()>& axes_of_program) {
  std::vector<steps::MeshAxis> axes;
  for (const auto& [name, length] : options.mesh) axes.push_back({.name = name, .length = length});
  const bool given = !axes.empty();
  if (!given) axes = axes_of_program();
  std::vector<std::uint32_t> lengths;
  for (const steps::MeshAxis& axis : axes) lengths.push_back(axis.length);
  return input::at(given ? "--mesh" : "--topology", [&] {
    return steps::lay_mesh(config::machine_axes(machine.config, lengths), std::move(axes));
  });
}

std::string axes_text(const steps::ImportedCollective& collective, const steps::Mesh& mesh) {
  return collective.permute ? "pairs" : steps::over_text(collective.call, mesh);
}

bool is_quantized(const steps::ImportedCollective& collective, double bytes,
                  const ProgramOptions& options) {
  return collective.skip_reason.empty() && collective.can_quantize && bytes >= options.min_bytes;
}

input::JsonValue step_json(const steps::StepGraph& graph, const steps::Mesh& mesh,
                           const ProgramMachine& machine, const ProgramOptions& options,
                           const std::vector<ImportedOp>& ops) {
  Json json = {{"hardware", machine.hardware}, {"topology", *machine.topology}};
  json["mesh"] = config::mesh_json(mesh);
  json["step"] = Json::object();
  config::write_tasks(graph, mesh, json["step"]);
  json["variants"] = variants_for(options, ops);
  return json;
}

}  // namespace equarx::imports
