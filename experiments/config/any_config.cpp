#include "experiments/config/any_config.hpp"

#include "experiments/config/json.hpp"
#include "experiments/config/named_files.hpp"
#include "experiments/config/step_json.hpp"
#include "experiments/config/topology.hpp"
#include "experiments/input/json.hpp"
#include "experiments/input/json_text.hpp"

namespace equarx::config {
namespace {

AnyConfig machine_part(const ExperimentConfig& machine) {
  return {.resolved = {},
          .labels = {},
          .files = named_files(machine),
          .hardware = machine.hardware,
          .chip = machine.chip,
          .topology = topology_text(machine.topology),
          .tensor_bytes = std::nullopt};
}

}  // namespace

AnyConfig read_any_config(const input::Json& json) {
  if (is_step(json)) {
    const StepConfig step = read_step_config(json);
    AnyConfig any = machine_part(step.machine);
    any.resolved = to_json(step);
    for (const StepVariant& variant : step.variants) any.labels.push_back(variant.label);
    if (step.training && input::is_path(step.training->model_name))
      any.files.push_back(step.training->model_name);
    return any;
  }
  const ExperimentConfig config = read_config(json);
  AnyConfig any = machine_part(config);
  any.resolved = to_json(config);
  any.tensor_bytes = config.tensor.bytes();
  for (const CollectiveConfig& collective : config.collectives)
    any.labels.push_back(collective.label);
  return any;
}

const input::Json& compared(const input::Json& resolved) {
  return resolved.at(is_step(resolved) ? "variants" : "collectives");
}

}  // namespace equarx::config
