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

/// Numbers of chips in JSON or separated by commas. @throws InputError for other text
std::vector<std::uint32_t> listed_chips(const std::string& text) {
  const bool is_json = text.starts_with("[");
  const Json json = Json::parse(is_json ? text : "[" + text + "]", nullptr, false);
  const auto is_number = [](const Json& number) { return number.is_number_unsigned(); };
  if (json.is_discarded() || !json.is_array() || !std::ranges::all_of(json, is_number))
    throw InputError("", fmt::format("--device-order: expected jax, machine, or the chip of each "
                                     "device like 0,1,3,2, not '{}'",
                                     text));
  return json.get<std::vector<std::uint32_t>>();
}

/// `order`: value of --device-order; if empty, by topology.
steps::Mesh laid_out(const config::TopologyConfig& topology, std::vector<steps::MeshAxis> axes,
                     const std::string& order) {
  using steps::DeviceOrder;
  const bool by_default = order.empty();
  if (order == "jax" || (by_default && !config::joins_all_alike(topology)))
    return config::lay_on(topology, std::move(axes), DeviceOrder::jax);
  if (order == "machine" || by_default)
    return config::lay_on(topology, std::move(axes), DeviceOrder::machine);
  return steps::lay_in_order(config::machine_axes(topology, {}), std::move(axes),
                             listed_chips(order));
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
  return input::at(given ? "--mesh" : "--topology",
                   [&] { return laid_out(machine.config, std::move(axes), options.device_order); });
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
