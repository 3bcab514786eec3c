#include "experiments/config/any_config.hpp"

#include <utility>

#include "base/input/errors.hpp"
#include "base/input/json.hpp"
#include "base/input/json_text.hpp"
#include "base/input/schema.hpp"
#include "experiments/config/json.hpp"
#include "experiments/config/named_files.hpp"
#include "experiments/config/step_json.hpp"
#include "experiments/config/topology.hpp"

namespace equarx::config {
namespace {

AnyConfig machine_part(ExperimentConfig machine, std::vector<std::string> files) {
  return {.resolved = {},
          .labels = {},
          .files = std::move(files),
          .hardware = std::move(machine.hardware),
          .chip = std::move(machine.chip),
          .topology = topology_text(machine.topology),
          .tensor_bytes = std::nullopt};
}

AnyConfig resolve(StepConfig step) {
  input::Json resolved = to_json(step);
  std::vector<std::string> files = named_files(step);
  AnyConfig any = machine_part(std::move(step.machine), std::move(files));
  any.resolved = std::move(resolved);
  for (const StepVariant& variant : step.variants) any.labels.push_back(variant.label);
  if (step.compared) any.tensor_bytes = step.compared->tensor.bytes();
  return any;
}

AnyConfig resolve(ExperimentConfig config) {
  input::Json resolved = to_json(config);
  std::vector<std::string> files = named_files(config);
  const std::uint64_t tensor_bytes = config.tensor.bytes();
  std::vector<std::string> labels;
  for (const CollectiveConfig& collective : config.collectives) labels.push_back(collective.label);
  AnyConfig any = machine_part(std::move(config), std::move(files));
  any.resolved = std::move(resolved);
  any.labels = std::move(labels);
  any.tensor_bytes = tensor_bytes;
  return any;
}

}  // namespace

Config read(const input::Json& json) {
  if (json.is_object() && json.contains("serving"))
    throw input::InputError("/serving",
                            "is a served model under a load; 'equarx-sim serve' runs it");
  if (json.is_object() && (json.contains("step") || json.contains("workload")))
    return read_step_config(json);
  return read_config(json);
}

std::string schema_of(const Config& config) {
  const auto* step = std::get_if<StepConfig>(&config);
  return step != nullptr && !step->compared ? "step" : "experiment";
}

Config read_checked(const input::Json& json) {
  Config config = read(json);
  input::check_schema(json, schema_of(config));
  return config;
}

AnyConfig read_any_config(const input::Json& json) {
  return std::visit([](auto&& config) { return resolve(std::move(config)); }, read(json));
}

const input::Json& compared(const input::Json& resolved) {
  return resolved.at(resolved.contains("variants") ? "variants" : "collectives");
}

}  // namespace equarx::config
