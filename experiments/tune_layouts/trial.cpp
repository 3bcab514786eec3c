#include "experiments/tune_layouts/trial.hpp"

#include <utility>

#include "base/input/json.hpp"
#include "experiments/config/step_json.hpp"
#include "experiments/step/memory.hpp"
#include "experiments/step/run.hpp"
#include "experiments/tune_layouts/traffic.hpp"

namespace equarx::tune_layouts {

Trial run_layout(const input::Json& json, const Layout& layout, double hbm_bytes) {
  config::StepConfig config = config::read_step_config(json);
  config.memory = config::MemoryCheck::ignore;  // checked here
  Trial trial{.layout = layout, .memory_bytes = step::memory_of(config).value().total()};
  if (trial.memory_bytes > hbm_bytes) return trial;
  const step::StepPlan plan = step::make_plan(std::move(config));
  const step::VariantResult result =
      step::run_variant(plan, plan.variants.front(), plan.config.variants.front().label);
  trial.time_s = result.time_s;
  trial.bubble = result.bubble().value_or(0.0);
  for (const step::GroupResult& group : result.groups)
    if (group.kind == step::GroupKind::collective ||
        (group.kind == step::GroupKind::permute && group.name.starts_with("ring ")))
      trial.exposed_s += group.exposed_s;
  trial.bytes = bytes_by_axis(plan.config);
  return trial;
}

}  // namespace equarx::tune_layouts
