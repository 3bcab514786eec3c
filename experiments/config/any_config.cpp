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

AnyConfig machine_part(const ExperimentConfig& machine, std::vector<std::string> files) {
  return {.resolved = {},
          .labels = {},
          .files = std::move(files),
          .hardware = machine.hardware,
          .chip = machine.chip,
          .topology = topology_text(machine.topology),
          .tensor_bytes = std::nullopt};
}

AnyConfig resolve(const StepConfig& step) {
  AnyConfig any = machine_part(step.machine, named_files(step));
  any.resolved = to_json(step);
  for (const StepVariant& variant : step.variants) any.labels.push_back(variant.label);
  if (step.compared) any.tensor_bytes = step.compared->tensor.bytes();
  return any;
}

AnyConfig resolve(const ExperimentConfig& config) {
  AnyConfig any = machine_part(config, named_files(config));
  any.resolved = to_json(config);
  any.tensor_bytes = config.tensor.bytes();
  for (const CollectiveConfig& collective : config.collectives)
    any.labels.push_back(collective.label);
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
  return std::visit([](const auto& config) { return resolve(config); }, read(json));
}

const input::Json& compared(const input::Json& resolved) {
  return resolved.at(resolved.contains("variants") ? "variants" : "collectives");
}

}  // namespace equarx::config
