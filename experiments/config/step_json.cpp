#include "experiments/config/step_json.hpp"

#include <array>
#include <optional>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "base/input/codecs.hpp"
#include "base/input/errors.hpp"
#include "base/input/fields.hpp"
#include "base/input/json.hpp"
#include "base/input/pointer.hpp"
#include "experiments/config/collective_json.hpp"
#include "experiments/config/format_names.hpp"
#include "experiments/config/json.hpp"
#include "experiments/config/labels.hpp"
#include "experiments/config/mesh_json.hpp"
#include "experiments/config/step_rules.hpp"
#include "experiments/config/step_values.hpp"
#include "experiments/config/tasks_json.hpp"
#include "experiments/config/tensor_json.hpp"
#include "experiments/config/topology.hpp"
#include "experiments/config/training_json.hpp"
#include "experiments/config/workload_json.hpp"
#include "models/steps/serving.hpp"

namespace equarx::config {
namespace {

constexpr input::EnumNames<MemoryCheck, 3> kMemoryChecks({
    {MemoryCheck::warn, "warn"},
    {MemoryCheck::refuse, "refuse"},
    {MemoryCheck::ignore, "ignore"},
});

constexpr std::array<std::string_view, 3> kSources = {"training", "workload", "tasks"};

/// Key of the check of memory, for training and serving.
const input::Table<StepConfig>& memory_table() {
  static const input::Table<StepConfig> table{
      {"memory", &StepConfig::memory, input::OneOf{kMemoryChecks},
       "training and serving that exceed the HBM of a chip: computed with a warning, refused "
       "(`\"refuse\"`), or computed (`\"ignore\"`)"}};
  return table;
}

/// Sets the graph of the workload. @throws input::InputError at the mesh
void add_served_graph(numerics::ElementFormat dtype, StepConfig& config) {
  const WorkloadConfig& workload = config.workload.value();
  const steps::Serving serving{.model = workload.model,
                               .operations = workload.operations,
                               .elements = chunk_rows(workload) * workload.model.d_model,
                               .dtype = dtype,
                               .chunks = workload.chunks};
  config.graph = input::at("/mesh", [&] { return steps::serving_step(serving, config.mesh); });
}

void read_graph(input::ObjectReader reader, StepConfig& config) {
  const std::string_view source = input::exactly_one(reader, kSources, "/step");
  if (source.empty())
    throw input::InputError("/step",
                            "is empty; give \"training\", \"workload\", or \"tasks\" of your own");
  if (source == "tasks") {
    config.graph = read_tasks(reader, config.mesh);
  } else if (source == "workload") {
    config.workload = read_workload(reader.object("workload"), config.mesh.length("tensor"),
                                    config.mesh.length("expert"));
    add_served_graph(numerics::ElementFormat::bf16, config);
  } else {
    config.training = read_training(reader.object("training"));
    config.graph = input::at(reader.pointer_to("training"), [&] {
      return steps::training_step(config.training->training, config.mesh);
    });
  }
  reader.finish();
}

/// A tensor-parallel group of all chips.
steps::Mesh whole_machine(const TopologyConfig& topology) {
  const std::uint32_t chips = count_chips(topology);
  return lay_on(topology, {{.name = "tensor", .length = chips}}, steps::DeviceOrder::jax);
}

ComparedCollectives read_compared(input::ObjectReader& reader, const WorkloadConfig& workload,
                                  std::uint32_t chips) {
  constexpr auto kAllReduce = collectives::Collective::all_reduce;
  if (read_collective_kind(reader) != kAllReduce)
    throw input::InputError("/collective",
                            "a workload's collectives are AllReduces; remove this key");
  reader.reject("timed_as", "is for a collective alone, and a workload's are steps; remove it");
  ComparedCollectives compared;
  const input::Json nothing = input::Json::object();
  compared.tensor = read_tensor(
      reader.has("tensor") ? reader.object("tensor") : input::ObjectReader(nothing, "/tensor"),
      chips, tensor_size(workload));
  compared.collectives = read_collectives(reader, kAllReduce, compared.tensor.dtype);
  compared.numerics = read_numerics(reader);
  return compared;
}

/// A variant for each collective, with the tensor's values in its AllReduces.
void add_variants(StepConfig& config) {
  const ComparedCollectives& compared = config.compared.value();
  for (const CollectiveConfig& collective : compared.collectives)
    config.variants.push_back(
        {.label = collective.label,
         .rules = {},
         .collectives = std::vector<CollectiveConfig>(config.calls.size(), collective)});
  config.values.assign(config.calls.size(),
                       compared.numerics ? std::optional(compared.tensor) : std::nullopt);
}

/// Reads a workload on all chips.
void read_whole_machine(input::ObjectReader& reader, StepConfig& config) {
  reader.reject(
      "mesh",
      "a workload runs on one tensor-parallel group of all chips; move it into \"step\" to "
      "divide chips over axes like \"data\" and \"expert\", or remove the mesh");
  const std::uint32_t chips = count_chips(config.machine.topology);
  config.mesh = whole_machine(config.machine.topology);
  config.workload = read_workload(reader.object("workload"), chips);
  config.compared = read_compared(reader, *config.workload, chips);
  add_served_graph(config.compared->tensor.dtype, config);
  config.calls = distinct_calls(config.graph);
  add_variants(config);
}

/// @throws input::InputError if values are wanted of a collective to which some chips do not send
void check_values(const StepConfig& config) {
  for (const StepVariant& variant : config.variants)
    for (std::size_t call = 0; call < config.calls.size(); ++call)
      if (config.values[call] && variant.kinds.front().uploads_of(call))
        throw input::InputError(
            "/values", fmt::format("the error of {} depends on earlier steps, as \"uploads\" of "
                                   "{} leaves chips out; remove it, or use equarx.Lazy in Python",
                                   config.calls[call].group, variant.label));
}

void read_step(input::ObjectReader& reader, StepConfig& config) {
  config.mesh =
      read_mesh(reader.required("mesh", "axes, like {\"fsdp\": 16}"), config.machine.topology);
  read_graph(reader.object("step"), config);
  config.calls = distinct_calls(config.graph);
  config.permutes = distinct_permutes(config.graph);
  config.variants =
      read_variants(reader, config.machine, config.mesh, config.calls, config.graph.chip_lists);
  if (reader.has("values")) config.value_rules = reader.array("values");
  config.values =
      read_step_values(reader, config.machine, config.mesh, config.calls, config.graph.chip_lists);
  check_values(config);
}

/// A rule for all collectives of a variant.
input::Json rule_of(const CollectiveConfig& collective) {
  input::Json rule = collective_json(collective, collectives::Collective::all_reduce);
  rule.erase("label");
  return rule;
}

/// A rule for the values of all collectives.
input::Json value_rule_of(const TensorConfig& tensor) {
  const input::Json json = tensor_json(tensor);
  input::Json rule = json.at("values");
  rule["sample"] = json.at("sample");
  return rule;
}

/// The keys of the workload and of the collectives compared in it.
void write_compared(const StepConfig& config, input::Json& json) {
  const ComparedCollectives& compared = config.compared.value();
  constexpr auto kAllReduce = collectives::Collective::all_reduce;
  json["workload"] = workload_json(config.workload.value());
  json["tensor"] = tensor_json(compared.tensor);
  json["collective"] = collective_key(kAllReduce);
  json["collectives"] = input::Json::array();
  for (const CollectiveConfig& collective : compared.collectives)
    json["collectives"].push_back(collective_json(collective, kAllReduce));
  json["numerics"] = numerics_key(compared.numerics);
}

void write_step(const StepConfig& config, input::Json& json) {
  json["mesh"] = mesh_json(config.mesh);
  if (config.training)
    json["step"]["training"] = training_json(*config.training);
  else if (config.workload)
    json["step"]["workload"] = workload_json(*config.workload);
  else
    write_tasks(config.graph, config.mesh, json["step"]);
  json["variants"] = variants_json(config);
  if (!config.value_rules->is_null()) json["values"] = *config.value_rules;
}

/// @throws input::InputError if a variant has several kinds of step, or chips that do not send
void check_alike(const StepConfig& config) {
  for (std::size_t i = 0; i < config.variants.size(); ++i)
    if (!always_communicates(config.variants[i].kinds))
      throw input::InputError(
          input::pointer("/variants", i),
          "has rules with \"when\"; tuning and advice choose collectives of steps that all "
          "communicate alike: remove \"when\"");
}

}  // namespace

StepConfig step_form(StepConfig config) {
  check_alike(config);
  if (!config.compared) return config;
  const ComparedCollectives compared = *std::exchange(config.compared, std::nullopt);
  if (compared.tensor.dtype != numerics::ElementFormat::bf16)
    throw input::InputError(
        "/tensor/dtype",
        fmt::format("is {}; tuning and advice support workloads with AllReduces of bf16 only",
                    numerics::name(compared.tensor.dtype)));
  for (std::size_t i = 0; i < config.variants.size(); ++i)
    config.variants[i].rules = config.calls.empty()
                                   ? input::Json::array()
                                   : input::Json::array({rule_of(compared.collectives[i])});
  if (!config.calls.empty() && compared.numerics)
    config.value_rules = input::Json::array({value_rule_of(compared.tensor)});
  return config;
}

StepConfig with_layers(StepConfig config, std::uint32_t layers) {
  config.workload.value().model.layers = layers;
  add_served_graph(numerics::ElementFormat::bf16, config);
  return config;
}

StepConfig read_step_config(const input::Json& json) {
  input::Json named = json;
  replace_format_aliases(named);
  input::ObjectReader reader(named, "");
  StepConfig config{.machine = read_machine(reader), .mesh = {}, .graph = {}};
  for (const config::LinkFault& fault : config.machine.faults.links)
    if (fault.fails_at_s)
      throw input::InputError(
          "/faults/links",
          "a step cannot complete over a failed link; use \"bandwidth_factor\" instead");
  if (named.contains("workload"))
    read_whole_machine(reader, config);
  else
    read_step(reader, config);
  config.baseline = read_baseline(reader, config.variants);
  memory_table().read(reader, config);
  reader.finish();
  return config;
}

input::Json variants_json(const StepConfig& config) {
  input::Json json = input::Json::array();
  for (const StepVariant& variant : config.variants)
    json.push_back({{"label", variant.label}, {"quantize", *variant.rules}});
  return json;
}

input::Json to_json(const StepConfig& config) {
  input::Json json = machine_json(config.machine);
  config.compared ? write_compared(config, json) : write_step(config, json);
  json["baseline"] = config.variants[config.baseline].label;
  json["wire_buffers"] = wire_buffers_key(config.machine);
  memory_table().write(config, json);
  add_simulation_keys(config.machine, json);
  return json;
}

namespace {

/// The sources of a step's graph.
input::Json source_schema() {
  using input::Elsewhere;
  constexpr input::Presence kOneOfThree = input::otherwise("one of three");
  static const input::Table<input::ReadElsewhere> table{
      {{"training", Elsewhere{training_schema}, "[training](#training)", kOneOfThree},
       {"workload", Elsewhere{R"({"type": "object"})"}, "[serving](#serving)", kOneOfThree}},
      {.rules = R"({"oneOf": [{"required": ["training"]}, {"required": ["workload"]},
                             {"required": ["tasks"]}]})"}};
  return input::joined({table.schema(), tasks_schema()});
}

/// Keys of the simulation, which pages describe with an experiment.
input::Json shared_keys_schema() {
  input::Json schema = simulation_schema();
  input::Json& keys = schema["properties"];
  keys["simulation"].erase("description");
  keys["engine"]["description"] = R"(`"direct"`; or `"simgrid"`)";
  keys["uncertainty"] = {{"type", "object"},
                         {"description", "68 % intervals, as for a collective"}};
  return schema;
}

}  // namespace

input::Json memory_check_schema() { return memory_table().schema(); }

input::Json step_schema() {
  using input::Elsewhere, input::otherwise;
  static const input::Table<input::ReadElsewhere> table{
      {"hardware", Elsewhere{"{}"}, "", input::kRequired},
      {"topology", Elsewhere{R"({"type": "object"})"}, "", input::kRequired},
      {"faults", Elsewhere{R"({"type": "object"})"}, "without `fails_at`"},
      {"mesh", Elsewhere{mesh_schema},
       R"(named axes, like `"fsdp": 16`, whose lengths multiply to the number of chips)",
       input::kRequired},
      {"step", Elsewhere{source_schema}, "work of every chip: the keys below", input::kRequired},
      {"variants", Elsewhere{variants_schema}, "candidates to compare",
       otherwise("one, `\"plain\"`")},
      {"baseline", Elsewhere{input::Text{}}, "variant that speedups refer to",
       otherwise("the first")},
      {"values", Elsewhere{step_values_schema},
       "tensors of collectives, whose errors are computed ([values](#values))"},
      {"wire_buffers", Elsewhere{wire_buffers_schema}, "", otherwise("as for a collective")},
  };
  return input::joined({table.schema(), memory_check_schema(), shared_keys_schema()});
}

}  // namespace equarx::config
