#include "experiments/config/json.hpp"

#include <algorithm>
#include <array>

#include "base/input/codecs.hpp"
#include "base/input/errors.hpp"
#include "base/input/fields.hpp"
#include "base/input/json.hpp"
#include "base/input/pointer.hpp"
#include "experiments/config/chip_choice.hpp"
#include "experiments/config/collective_json.hpp"
#include "experiments/config/faults_json.hpp"
#include "experiments/config/format_names.hpp"
#include "experiments/config/labels.hpp"
#include "experiments/config/own_format.hpp"
#include "experiments/config/step_json.hpp"
#include "experiments/config/tensor_json.hpp"
#include "experiments/config/topology.hpp"
#include "experiments/config/topology_json.hpp"
#include "experiments/config/workload_json.hpp"
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
constexpr input::EnumNames<TimedAs, 2> kTimedAs({
    {TimedAs::program, "program"},
    {TimedAs::step, "step"},
});
constexpr std::array<std::string_view, 2> kSwitch = {"off", "on"};

const input::Table<UncertaintyConfig>& uncertainty_table() {
  using Config = UncertaintyConfig;
  static const input::Table<Config> table{
      {"samples", &Config::samples, input::Integer{Config::kFewestSamples, Config::kMostSamples},
       "10 to 100,000"},
      {"seed", &Config::seed, input::Integer{0, Config::kLargestSeed}, ""},
  };
  return table;
}

/// Sampling with the default number of samples.
UncertaintyConfig requested() {
  UncertaintyConfig uncertainty;
  uncertainty.request();
  return uncertainty;
}

/// Sampling, if the key is present.
struct Uncertainty {
  void read(input::ObjectReader& reader, std::string_view key, ExperimentConfig& config) const {
    if (!reader.has(key)) return;
    config.uncertainty = requested();
    input::Nested{uncertainty_table}.read(reader, key, config.uncertainty);
  }
  void write(const ExperimentConfig& config, std::string_view key, input::Json& json) const {
    if (config.uncertainty.samples > 0)
      json[std::string(key)] = uncertainty_table().write(config.uncertainty);
  }
  input::Json schema() const { return uncertainty_table().schema(requested()); }
};

/// "on" or "off", or a JSON boolean.
struct Numerics {
  void read(input::ObjectReader& reader, std::string_view key, bool& computes) const {
    if (reader.required(key, "on or off").is_boolean())
      input::Flag{}.read(reader, key, computes);
    else
      input::Switch{kSwitch}.read(reader, key, computes);
  }
  input::Json write(bool computes) const { return kSwitch[computes ? 1 : 0]; }
  input::Json schema() const { return {{"enum", {"on", "off", true, false}}}; }
};

/// Keys of the simulation itself.
const input::Table<ExperimentConfig>& simulation_table() {
  static const input::Table<ExperimentConfig> table{
      {"simulation", &ExperimentConfig::simulation, input::OneOf{kSimulationModes},
       R"(`"symmetric"` ([representative chips](algorithms.md#symmetric-simulation), an error if )"
       R"(inexact) where possible, else `"full"`)"},
      {"engine", &ExperimentConfig::engine, input::OneOf{kEngineModes},
       R"(`"simgrid"`, or `"direct"`: equal to 1e-9, ten times (shared links) or hundreds of times )"
       R"(faster ([model.md](model.md#engines)). `"auto"`: SimGrid for single runs up to about )"
       "0.25 s, else direct, as in sweeps and studies"},
      {"uncertainty", Uncertainty{},
       "68 % intervals (Monte Carlo over parameter uncertainty, [hardware.md](hardware.md)); `{}` "
       "for defaults"},
  };
  return table;
}

/// HBM if its bandwidth is below the combined traffic of the chip's links, because it is then the
/// bottleneck; VMEM otherwise.
collectives::WireBuffers default_wire_buffers(const ExperimentConfig& config) {
  std::size_t links = links_of_chip(config.topology, config.chip);
  if (config.topology.kind != TopologyKind::on_switch)
    links = std::min(links, std::size_t{collectives::kShardsUnderWay});
  return config.chip.hbm_rate_of_links(links) > config.chip.hbm_rate()
             ? collectives::WireBuffers::hbm
             : collectives::WireBuffers::vmem;
}

}  // namespace

bool read_numerics(input::ObjectReader& reader) {
  bool computes = true;
  if (reader.has("numerics")) Numerics{}.read(reader, "numerics", computes);
  return computes;
}

std::string numerics_key(bool numerics) { return Numerics{}.write(numerics).get<std::string>(); }

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
  simulation_table().read(reader, config);
  return config;
}

namespace {

/// Row counts are for AllToAlls by algorithms that send shards directly, with scales of their own.
void check_counts(const ExperimentConfig& config) {
  if (!config.tensor.counts) return;
  if (config.collective != collectives::Collective::all_to_all)
    throw input::InputError("/tensor/counts", "is for an \"all-to-all\"; remove it");
}

}  // namespace

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
  config.tensor = read_tensor(reader.object("tensor"), count_chips(config.topology), std::nullopt,
                              count_chips_of_slice(config.topology));
  config.collectives = read_collectives(reader, config.collective, config.tensor.dtype);
  config.baseline = read_baseline(reader, config.collectives);
  check_counts(config);
  config.timed_as = reader.choice_or("timed_as", kTimedAs, TimedAs::program);
  config.numerics = read_numerics(reader);
  if (config.numerics) check_have_values(config.collectives);
  reader.reject("memory", "is for training and serving; remove it");
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
  simulation_table().write(config, json);
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
  json["timed_as"] = kTimedAs[config.timed_as];
  json["numerics"] = numerics_key(config.numerics);
  add_simulation_keys(config, json);
  return json;
}

namespace {

input::Json collectives_schema() {
  return {{"type", "array"}, {"minItems", 1}, {"items", collective_schema()}};
}

input::Json experiment_keys_schema() {
  using input::Elsewhere;
  static const input::Table<ExperimentConfig> table{
      {"hardware", Elsewhere{chip_choice_schema},
       "chip (`tpu-v4`, `tpu-v5e`, `tpu-v5p`, `tpu-v6e`, `tpu-v7`, `a100`, `b200`, `gb200`, "
       "`gh200`, `h100`, `h200`, `h800`, `mi300x`) or its name in Google Cloud, GKE and JAX "
       "(`v5e`, "
       "`v5litepod`, `trillium`, `TPU "
       "v5 lite`), path of a [hardware file](hardware.md), or an object: [below](#hardware). "
       "Results have the name listed here",
       input::kRequired},
      {"topology", Elsewhere{topology_schema}, "chips and links: [below](#topology)",
       input::kRequired},
      {"faults", Elsewhere{faults_schema}, "degraded links and chips: [below](#faults)"},
      {"workload", Elsewhere{workload_schema},
       "a transformer's prefill or decoding, with the `collectives` as its AllReduces "
       "([workloads.md](workloads.md)); times cover the whole phase"},
      {"tensor", Elsewhere{tensor_schema},
       "larger of each chip's input and output ([algorithms.md](algorithms.md)); a workload sets "
       "its size",
       input::otherwise("required without `workload`")},
      {"collective", Elsewhere{collective_kind_schema},
       R"(or `"reduce-scatter"`, `"all-gather"`, `"all-to-all"`, `"broadcast"`, `"neighbor-average"`)",
       input::by_default(R"("all-reduce")")},
      {"collectives", Elsewhere{collectives_schema},
       "candidates to compare, at least one: [below](#a-collective)", input::kRequired},
      {"baseline", Elsewhere{input::Text{}}, "label of the reference for speedups and errors",
       input::otherwise("the first")},
      {"wire_buffers", Elsewhere{input::OneOf{kWireBuffers}},
       "location of messages, unspecified by vendors ([model.md](model.md), M2a). `\"hbm\"`: DMAs "
       "and core share HBM's bandwidth",
       input::otherwise(R"(`"vmem"`; `"hbm"` if HBM is slower than all links of a chip together)")},
      {"timed_as", Elsewhere{input::OneOf{kTimedAs}},
       "without `workload`: a program of its own, which every variant starts (`program_startup`), "
       "or `\"step\"`: one operation of a running program",
       input::by_default(R"("program")")},
      {"numerics", &ExperimentConfig::numerics, Numerics{},
       R"(or `true`; `"off"`, `false`: times only)"},
  };
  return table.schema();
}

}  // namespace

input::Json simulation_schema() { return simulation_table().schema(); }

input::Json wire_buffers_schema() { return input::OneOf{kWireBuffers}.schema(); }

input::Json experiment_schema() {
  input::Json schema =
      input::joined({experiment_keys_schema(), memory_check_schema(), simulation_schema()});
  schema.update(input::schema_of(R"({"anyOf": [
    {"required": ["workload"]},
    {"required": ["tensor"],
     "properties": {"tensor": {"anyOf": [
       {"required": ["shape"]},
       {"required": ["bytes"]},
       {"required": ["values"], "properties": {"values": {"required": ["files"]}}}]}}}]})"));
  return schema;
}

}  // namespace equarx::config
