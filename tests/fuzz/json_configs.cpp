// Readers of experiments and steps; they go as far as the plan, like `validate`.
#include "tests/fuzz/json_configs.hpp"

#include <algorithm>

#include "base/input/json.hpp"
#include "base/input/json_text.hpp"
#include "base/input/schema.hpp"
#include "experiments/config/algorithm.hpp"
#include "experiments/config/any_config.hpp"
#include "experiments/config/json.hpp"
#include "experiments/config/serving_json.hpp"
#include "experiments/config/step_json.hpp"
#include "experiments/config/topology.hpp"
#include "experiments/plan/estimates.hpp"
#include "experiments/plan/plan.hpp"
#include "experiments/plan/programs.hpp"
#include "experiments/step/group.hpp"
#include "experiments/step/plan.hpp"
#include "tests/fuzz/json_readers.hpp"

namespace equarx::testing {
namespace {

using config::ExperimentConfig;
using input::Json;

/// Checks that a resolved configuration is valid and resolves to itself.
template <typename Read>
void check_resolved(const Json& resolved, std::string_view schema, Read&& read) {
  try {
    expect(to_json(read(resolved)) == resolved, "a resolved configuration stays what it is");
    input::check_schema(resolved, std::string(schema));
  } catch (const input::InputError& error) {
    expect(false, error.what());
  }
}

/// True if planning takes milliseconds only; planning for users may take much longer.
bool is_small(const config::CollectiveConfig& collective, const ExperimentConfig& config) {
  constexpr double kMostMessages = 4096.0;
  constexpr double kTriedCuts =
      16.0;  // approximate number of programs simulated to choose a tiling
  const double programs =
      collective.microshards || collective.cuts == config::CutMode::by_size ? 1.0 : kTriedCuts;
  const auto is_small_by = [&](config::Algorithm algorithm) {
    config::CollectiveConfig one = collective;
    one.algorithm = algorithm;
    const auto grid = plan::rank_grid(algorithm, config, "");
    return !grid ||
           programs * grid->ranks() * plan::estimate_messages(one, *grid, config) <= kMostMessages;
  };
  if (collective.algorithm != config::kAutomatic) return is_small_by(collective.algorithm);
  return std::ranges::all_of(
      config::tried_algorithms(config.collective, config.topology.network.has_value()),
      is_small_by);
}

void read_experiment(std::string_view text) {
  const Json json = input::parse_json(text);
  const ExperimentConfig config = config::read_config(json);
  check_resolved(to_json(config), "experiment", config::read_config);
  input::check_schema(json, "experiment");
  plan_if_small(config);
}

void read_step(std::string_view text) {
  const Json json = input::parse_json(text);
  if (has_many_tasks(json)) return;
  const config::StepConfig config = config::read_step_config(json);
  const std::string schema = config::schema_of(config);
  check_resolved(to_json(config), schema, config::read_step_config);
  input::check_schema(json, schema);
  plan_if_small(config);
}

void read_serving(std::string_view text) {
  const Json json = input::parse_json(text);
  const config::ServingConfig config = config::read_serving(json);
  check_resolved(to_json(config), "serving", config::read_serving);
  input::check_schema(json, "serving");
}

}  // namespace

bool has_more(const Json& json, const char* key, std::uint64_t most) {
  return json.is_object() && json.contains(key) && json[key].is_number_unsigned() &&
         json[key].get<std::uint64_t>() > most;
}

bool has_many_tasks(const Json& json) {
  constexpr std::uint64_t kMostTasks = 256;
  return holds_somewhere(json,
                         [](const Json& part) { return has_more(part, "repeat", kMostTasks); });
}

void plan_if_small(const ExperimentConfig& config) {
  constexpr std::uint32_t kMostChips = 128;
  if (count_chips(config.topology) > kMostChips) return;
  for (const config::CollectiveConfig& collective : config.collectives)
    if (!is_small(collective, config)) return;
  plan::make_plan(config, plan::RunProfile::batch);
}

void plan_if_small(const config::StepConfig& config) {
  constexpr std::size_t kMostTasks = 200;
  constexpr std::uint32_t kMostChips = 16;
  if (config.graph.tasks.size() > kMostTasks || count_chips(config.machine.topology) > kMostChips)
    return;
  for (const config::StepVariant& variant : config.variants)
    for (std::size_t i = 0; i < config.calls.size(); ++i) {
      const ExperimentConfig group =
          step::group_experiment(config, config.calls[i], variant.collectives[i]);
      if (!is_small(variant.collectives[i], group)) return;
    }
  step::make_plan(config);
}

std::vector<JsonReader> config_readers() {
  return {{"experiment", {"experiment"}, read_experiment},
          {"step", {"step", "experiment"}, read_step},
          {"serving", {"serving", "experiment"}, read_serving}};
}

}  // namespace equarx::testing
