#include "experiments/config/json.hpp"

#include <algorithm>
#include <array>

#include "experiments/config/chip_choice.hpp"
#include "experiments/config/collective_json.hpp"
#include "experiments/config/faults_json.hpp"
#include "experiments/config/format_names.hpp"
#include "experiments/config/labels.hpp"
#include "experiments/config/tensor_json.hpp"
#include "experiments/config/topology.hpp"
#include "experiments/config/topology_json.hpp"
#include "experiments/input/errors.hpp"
#include "experiments/input/json.hpp"
#include "experiments/input/pointer.hpp"
#include "models/collectives/direct_exchange.hpp"

namespace equarx::config {
namespace {

constexpr input::EnumNames<SimulationMode, 3> kSimulationModes({
    {SimulationMode::automatic, "auto"},
    {SimulationMode::full, "full"},
    {SimulationMode::symmetric, "symmetric"},
});
constexpr input::EnumNames<EngineMode, 3> kEngineModes({
    {EngineMode::automatic, "auto"},
    {EngineMode::simgrid, "simgrid"},
    {EngineMode::direct, "direct"},
});
constexpr input::EnumNames<collectives::WireBuffers, 2> kWireBuffers({
    {collectives::WireBuffers::vmem, "vmem"},
    {collectives::WireBuffers::hbm, "hbm"},
});
constexpr std::array<std::string_view, 2> kSwitch = {"off", "on"};

UncertaintyConfig read_uncertainty(input::ObjectReader reader) {
  UncertaintyConfig uncertainty{.samples = UncertaintyConfig::kDefaultSamples};
  if (reader.has("samples"))
    uncertainty.samples = static_cast<std::uint32_t>(reader.integer(
        "samples", UncertaintyConfig::kFewestSamples, UncertaintyConfig::kMostSamples));
  if (reader.has("seed"))
    uncertainty.seed = reader.integer("seed", 0, UncertaintyConfig::kLargestSeed);
  reader.finish();
  return uncertainty;
}

/// HBM if its bandwidth is below the combined traffic of the chip's links, because it is then the
/// bottleneck; VMEM otherwise.
collectives::WireBuffers default_wire_buffers(const ExperimentConfig& config) {
  const std::size_t links =
      std::min(links_of_chip(config.topology), std::size_t{collectives::kShardsUnderWay});
  return config.chip.hbm_rate_of_links(links) > config.chip.hbm_rate()
             ? collectives::WireBuffers::hbm
             : collectives::WireBuffers::vmem;
}

}  // namespace

bool read_numerics(input::ObjectReader& reader) {
  if (!reader.has("numerics")) return true;
  if (reader.required("numerics", "on or off").is_boolean())
    return reader.flag_or("numerics", true);
  return reader.choice("numerics", kSwitch) == 1;
}

std::string_view numerics_key(bool numerics) { return kSwitch[numerics ? 1 : 0]; }

ExperimentConfig read_machine(input::ObjectReader& reader) {
  ExperimentConfig config;
  ChipChoice hardware = read_chip_choice(reader);
  config.hardware = std::move(hardware.based_on);
  config.changed_parameters = std::move(hardware.changes);
  config.chip = std::move(hardware.chip);
  config.topology = read_topology(reader.object("topology"), config.chip);
  if (reader.has("faults"))
    config.faults = read_faults(reader.object("faults"), config.topology, config.chip);
  config.wire_buffers =
      reader.choice_or("wire_buffers", kWireBuffers, default_wire_buffers(config));
  config.simulation = reader.choice_or("simulation", kSimulationModes, SimulationMode::automatic);
  config.engine = reader.choice_or("engine", kEngineModes, EngineMode::automatic);
  if (reader.has("uncertainty"))
    config.uncertainty = read_uncertainty(reader.object("uncertainty"));
  return config;
}

ExperimentConfig read_config(const input::Json& json) {
  for (const std::string_view key : {"step", "workload"})
    if (json.is_object() && json.contains(key))
      throw input::InputError(
          input::pointer("", key),
          "makes this a step, which run, show, validate, sweep, reproduce, tune and advise accept; "
          "give a configuration with \"collectives\" alone");
  input::Json named = json;
  replace_format_aliases(named);
  input::ObjectReader reader(named, "");
  ExperimentConfig config = read_machine(reader);
  config.collective = read_collective_kind(reader);
  config.tensor = read_tensor(reader.object("tensor"), count_chips(config.topology));
  config.collectives = read_collectives(reader, config.collective, config.tensor.dtype);
  config.baseline = read_baseline(reader, config.collectives);
  config.numerics = read_numerics(reader);
  reader.finish();
  return config;
}

input::Json read_config_or_path(input::ObjectReader& reader, std::string_view key,
                                const std::filesystem::path& folder) {
  constexpr std::string_view kExpected = "a configuration or the path of one";
  const input::Json& config = reader.required(key, kExpected);
  if (config.is_object()) return config;
  const std::string file = (folder / reader.text(key, kExpected)).string();
  return input::read_named_file(file, reader.pointer_to(key), [](const std::string& text) {
    input::Json json = input::parse_json(text);
    if (!json.is_object()) throw input::InputError("", "expected an object");
    return json;
  });
}

input::Json machine_json(const ExperimentConfig& config) {
  input::Json json = {
      {"hardware", chip_choice_json({config.hardware, config.changed_parameters, config.chip})},
      {"topology", topology_json(config.topology)}};
  if (!config.faults.empty()) json["faults"] = faults_json(config.faults);
  return json;
}

std::string_view wire_buffers_key(const ExperimentConfig& config) {
  return kWireBuffers[config.wire_buffers];
}

void add_simulation_keys(const ExperimentConfig& config, input::Json& json) {
  json["simulation"] = kSimulationModes[config.simulation];
  json["engine"] = kEngineModes[config.engine];
  if (config.uncertainty.samples > 0)
    json["uncertainty"] = {{"samples", config.uncertainty.samples},
                           {"seed", config.uncertainty.seed}};
}

input::Json to_json(const ExperimentConfig& config) {
  input::Json json = machine_json(config);
  json["tensor"] = tensor_json(config.tensor);
  json["collective"] = collective_key(config.collective);
  json["collectives"] = input::Json::array();
  for (const CollectiveConfig& collective : config.collectives)
    json["collectives"].push_back(collective_json(collective, config.collective));
  json["baseline"] = config.collectives[config.baseline].label;
  json["wire_buffers"] = wire_buffers_key(config);
  json["numerics"] = numerics_key(config.numerics);
  add_simulation_keys(config, json);
  return json;
}

}  // namespace equarx::config
