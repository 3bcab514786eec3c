#include "experiments/config/step_json.hpp"

#include <array>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "experiments/config/format_names.hpp"
#include "experiments/config/json.hpp"
#include "experiments/config/labels.hpp"
#include "experiments/config/mesh_json.hpp"
#include "experiments/config/step_rules.hpp"
#include "experiments/config/step_values.hpp"
#include "experiments/config/tasks_json.hpp"
#include "experiments/config/topology.hpp"
#include "experiments/config/training_json.hpp"
#include "experiments/config/workload_json.hpp"
#include "experiments/input/errors.hpp"
#include "experiments/input/json.hpp"
#include "models/steps/serving.hpp"

namespace equarx::config {
namespace {

constexpr std::array<std::string_view, 3> kSources = {"training", "workload", "tasks"};

void read_served(input::ObjectReader& reader, StepConfig& config) {
  const std::uint32_t chips = config.mesh.length("tensor");
  config.workload = read_workload(reader.object("workload"), chips);
  const steps::Serving serving{
      .model = config.workload->model,
      .operations = config.workload->operations,
      .elements = chunk_rows(*config.workload) * config.workload->model.d_model,
      .chunks = config.workload->chunks};
  try {
    config.graph = steps::serving_step(serving, config.mesh);
  } catch (const std::invalid_argument& error) {
    throw input::InputError("/mesh", error.what());
  }
}

void read_graph(input::ObjectReader reader, StepConfig& config) {
  const std::string_view source = input::exactly_one(reader, kSources, "/step");
  if (source.empty())
    throw input::InputError("/step",
                            "is empty; give \"training\", \"workload\", or \"tasks\" of your own");
  if (source == "tasks") {
    config.graph = read_tasks(reader, config.mesh);
  } else if (source == "workload") {
    read_served(reader, config);
  } else {
    config.training = read_training(reader.object("training"));
    try {
      config.graph = steps::training_step(config.training->training, config.mesh);
    } catch (const std::invalid_argument& error) {
      throw input::InputError(reader.pointer_to("training"), error.what());
    }
  }
  reader.finish();
}

}  // namespace

bool is_step(const input::Json& json) { return json.is_object() && json.contains("step"); }

input::JsonValue step_of_one_chip(const input::Json& json) {
  if (!json.is_object() || !json.contains("workload") || is_step(json)) return input::Json(nullptr);
  try {
    input::ObjectReader reader(json, "");
    if (count_chips(read_machine(reader).topology) != 1) return input::Json(nullptr);
  } catch (const input::InputError&) {  // reported where the configuration is read
    return input::Json(nullptr);
  }
  input::Json step = {{"hardware", json.at("hardware")},
                      {"topology", json.at("topology")},
                      {"mesh", {{"tensor", 1}}},
                      {"step", {{"workload", json.at("workload")}}}};
  for (const char* const key : {"wire_buffers", "simulation", "engine", "uncertainty"})
    if (json.contains(key)) step[key] = json[key];
  return step;
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
  config.mesh =
      read_mesh(reader.required("mesh", "axes, like {\"fsdp\": 16}"), config.machine.topology);
  read_graph(reader.object("step"), config);
  config.calls = distinct_calls(config.graph);
  config.permutes = distinct_permutes(config.graph);
  config.variants = read_variants(reader, config.machine, config.mesh, config.calls);
  config.baseline = read_baseline(reader, config.variants);
  if (reader.has("values")) config.value_rules = reader.array("values");
  config.values = read_step_values(reader, config.machine, config.mesh, config.calls);
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
  json["mesh"] = mesh_json(config.mesh);
  if (config.training)
    json["step"]["training"] = training_json(*config.training);
  else if (config.workload)
    json["step"]["workload"] = workload_json(*config.workload);
  else
    write_tasks(config.graph, config.mesh, json["step"]);
  json["variants"] = variants_json(config);
  json["baseline"] = config.variants[config.baseline].label;
  if (!config.value_rules->is_null()) json["values"] = *config.value_rules;
  json["wire_buffers"] = wire_buffers_key(config.machine);
  add_simulation_keys(config.machine, json);
  return json;
}

}  // namespace equarx::config
