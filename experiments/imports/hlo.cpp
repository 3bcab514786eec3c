#include "experiments/imports/hlo.hpp"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <optional>
#include <stdexcept>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "experiments/config/json.hpp"
#include "experiments/config/mesh_json.hpp"
#include "experiments/config/step.hpp"
#include "experiments/config/tasks_json.hpp"
#include "experiments/config/topology.hpp"
#include "experiments/input/errors.hpp"
#include "experiments/input/json.hpp"
#include "models/hlo/parser.hpp"
#include "models/steps/hlo_step.hpp"
#include "models/units/quantity.hpp"

namespace equarx::imports {
namespace {

using input::InputError;
using input::Json;

constexpr std::uint32_t kMostChips = 1 << 24;

/// A whole number of a text, from 0 to `most`.
std::optional<std::uint64_t> whole_number(std::string_view text, std::uint64_t most) {
  std::uint64_t number = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (text.empty() || problem != std::errc() || end != text.data() + text.size() || number > most)
    return std::nullopt;
  return number;
}

/// "4x4", "torus:4x4x4" or JSON, as "topology" of a configuration.
Json topology_json(const std::string& text) {
  if (text.empty())
    throw InputError("", "--topology: say which machine the program runs on, like 4x4");
  if (text.front() == '{') return input::parse_json(text);
  const std::size_t colon = text.find(':');
  if (colon == std::string::npos) return {{"slice", text}};
  const std::string value = text.substr(colon + 1);
  const auto chips = whole_number(value, kMostChips);
  return {{text.substr(0, colon), chips ? Json(*chips) : Json(value)}};
}

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

steps::Mesh mesh_for(const hlo::Flow& flow, std::uint32_t devices,
                     const config::TopologyConfig& topology, const HloOptions& options) {
  std::vector<steps::MeshAxis> axes;
  for (const auto& [name, length] : options.mesh) axes.push_back({.name = name, .length = length});
  const bool given = !axes.empty();
  if (!given) axes = steps::axes_for(flow, devices);
  std::vector<std::uint32_t> lengths;
  for (const steps::MeshAxis& axis : axes) lengths.push_back(axis.length);
  try {
    return steps::lay_mesh(config::machine_axes(topology, lengths), std::move(axes));
  } catch (const std::invalid_argument& error) {
    throw InputError("", fmt::format("{}: {}", given ? "--mesh" : "--topology", error.what()));
  }
}

void check_chips(const hlo::Module& module, const config::TopologyConfig& topology) {
  const std::uint32_t chips = config::count_chips(topology);
  if (chips != module.devices())
    throw InputError("", fmt::format("--topology: the program is for {} chips (replica_count {} x "
                                     "num_partitions {}), and this machine has {}",
                                     module.devices(), module.replicas, module.partitions, chips));
}

/// Text of the program that people are shown: without what would do something to a terminal.
std::string printable(std::string text) {
  std::ranges::replace_if(text, input::is_control, '?');
  return text;
}

std::string axes_text(const steps::ImportedCollective& collective, const steps::Mesh& mesh) {
  std::vector<std::string> names;
  for (const std::size_t axis : collective.call.axes) names.push_back(mesh.axes[axis].name);
  return fmt::format("{}", fmt::join(names, "+"));
}

std::vector<ImportedSite> sites_of(const hlo::Flow& flow, const hlo::FlowTotals& totals,
                                   const steps::HloStep& step, const steps::Mesh& mesh,
                                   double min_bytes) {
  std::vector<ImportedSite> sites;
  for (std::size_t i = 0; i < flow.sites.size(); ++i) {
    const hlo::CollectiveSite& site = flow.sites[i];
    const steps::ImportedCollective& collective = step.collectives[i];
    if (totals.times[i] <= 0.0) continue;  // in the branch that is not taken
    sites.push_back(
        {.group = collective.group,
         .op_name = printable(site.op_name),
         .kind = std::string(hlo::name(site.kind)),
         .type = site.type,
         .bytes = site.bytes,
         .chips = site.groups.empty() ? 0 : static_cast<std::uint32_t>(site.groups.front().size()),
         .axes = axes_text(collective, mesh),
         .times = totals.times[i],
         .obstacle = collective.obstacle,
         .quantized =
             collective.obstacle.empty() && collective.can_quantize && site.bytes >= min_bytes});
  }
  return sites;
}

/// Rules that quantize what is quantized: those of the others come first, or these are named if they are fewer.
Json rules_for(const std::string& format, const std::vector<ImportedSite>& sites) {
  const auto simulated = [](const ImportedSite& site) { return site.obstacle.empty(); };
  const auto quantized = static_cast<std::size_t>(
      std::ranges::count_if(sites, [](const ImportedSite& site) { return site.quantized; }));
  const auto all = static_cast<std::size_t>(std::ranges::count_if(sites, simulated));
  const bool name_others = all - quantized < quantized;
  Json rules = Json::array();
  for (const ImportedSite& site : sites) {
    if (!simulated(site) || site.quantized == name_others) continue;
    Json rule = {{"where", {{"group", site.group}}}};
    if (site.quantized) rule["format"] = format;
    rules.push_back(rule);
  }
  if (name_others) rules.push_back({{"format", format}});
  return rules;
}

Json variants_for(const HloOptions& options, const std::vector<ImportedSite>& sites) {
  Json variants = Json::array({{{"label", "as it is"}}});
  if (std::ranges::none_of(sites, [](const ImportedSite& site) { return site.quantized; }))
    return variants;
  for (const std::string& format : options.formats)
    variants.push_back({{"label", format}, {"quantize", rules_for(format, sites)}});
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
                            : whole_number(one.substr(equals + 1), kMostChips);
    if (!length || *length == 0 || equals == 0)
      throw InputError("", fmt::format("{}: expected axes from the slowest, like data=2,model=8, "
                                       "and not '{}'",
                                       option, one));
    const std::string name(one.substr(0, equals));
    for (const auto& [other, of] : lengths)
      if (other == name) throw InputError("", fmt::format("{}: '{}' is there twice", option, name));
    lengths.emplace_back(name, static_cast<std::uint32_t>(*length));
  }
  return lengths;
}

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
  std::error_code unknown;
  const std::uintmax_t size = std::filesystem::file_size(path, unknown);
  if (!unknown && size > kMostBytes)
    throw InputError("", fmt::format("{} has {}; programs of up to {} are read", path,
                                     units::bytes_text(static_cast<double>(size)),
                                     units::bytes_text(static_cast<double>(kMostBytes))));
  return input::read_file(path);
}

HloImport import_hlo(const std::string& text, const HloOptions& options) {
  if (text.find('\0') != std::string::npos)
    throw InputError("",
                     "is no text; XLA writes HLO as text by --xla_dump_hlo_as_text, and JAX by "
                     "compiled.as_text()");
  Json json = {{"hardware", options.hardware}, {"topology", topology_json(options.topology)}};
  input::ObjectReader reader(json, "");
  const config::ExperimentConfig machine = config::read_machine(reader);
  const hlo::Module module = parse(text);
  check_chips(module, machine.topology);
  const hlo::Flow flow = flow_of(module, options.counts);
  const steps::Mesh mesh =
      mesh_for(flow, static_cast<std::uint32_t>(module.devices()), machine.topology, options);
  steps::HloStep step;
  try {
    step = hlo_step(flow, mesh);
  } catch (const std::invalid_argument& error) {
    throw InputError("", error.what());
  }
  HloImport made{.name = module.name,
                 .instructions = module.instructions(),
                 .computations = module.computations.size(),
                 .devices = module.devices(),
                 .totals = totals_of(flow),
                 .sites = {},
                 .notes = {},
                 .step = {}};
  for (const auto& [note, count] : flow.notes) made.notes[printable(note)] += count;
  made.sites = sites_of(flow, made.totals, step, mesh, options.min_bytes);
  json["mesh"] = config::mesh_json(mesh);
  json["step"] = Json::object();
  config::write_tasks(step.graph, mesh, json["step"]);
  json["variants"] = variants_for(options, made.sites);
  made.step = std::move(json);
  return made;
}

}  // namespace equarx::imports
