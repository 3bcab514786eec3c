#include "experiments/request/request.hpp"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <utility>

#include "base/input/errors.hpp"
#include "base/input/json.hpp"
#include "base/input/json_text.hpp"
#include "experiments/config/any_config.hpp"
#include "experiments/config/json.hpp"
#include "experiments/config/set_value.hpp"
#include "experiments/config/step_json.hpp"
#include "experiments/result/json.hpp"
#include "experiments/result/step_json.hpp"
#include "experiments/result/step_table.hpp"
#include "experiments/result/table.hpp"
#include "experiments/run/tensor_files.hpp"
#include "experiments/step/run.hpp"

namespace equarx::request {
namespace {

config::Config read_config(const Request& request) {
  input::Json json = input::parse_json(request.config);
  for (const Override& override : request.overrides)
    config::override_value(json, override.pointer, override.text);
  config::Config config = config::read_checked(json);
  if (auto* experiment = std::get_if<config::ExperimentConfig>(&config);
      experiment && request.uncertainty)
    experiment->uncertainty.request();
  return config;
}

input::Json to_json(const run::TensorPaths& paths) {
  const auto texts = [](const std::vector<std::filesystem::path>& files) {
    input::Json list = input::Json::array();
    for (const std::filesystem::path& file : files) list.push_back(file.string());
    return list;
  };
  input::Json json = {
      {"results", texts(paths.results)}, {"exact_sum", nullptr}, {"inputs", texts(paths.inputs)}};
  if (paths.exact_sum) json["exact_sum"] = paths.exact_sum->string();
  return json;
}

AnyPlan make(const config::ExperimentConfig& config) {
  return plan::make_plan(config, plan::RunProfile::batch);
}

AnyPlan make(const config::StepConfig& config) { return step::make_plan(config); }

bool uses_simgrid(const plan::Plan& plan) {
  const auto on_simgrid = [](const plan::CollectivePlan& candidate) {
    return candidate.engine.engine == sim::Engine::simgrid;
  };
  return std::ranges::any_of(plan.collectives, [&](const plan::PlannedCollective& collective) {
    return std::ranges::any_of(collective.candidates, on_simgrid);
  });
}

bool uses_simgrid(const step::StepPlan& plan) {
  return plan.config.machine.engine == config::EngineMode::simgrid;
}

Answer run(const plan::Plan& plan, const Request& request, const run::ShareDone& share,
           const run::Progress& progress) {
  std::optional<run::TensorFiles> tensors;
  if (!request.tensors.empty())
    tensors.emplace(request.tensors, std::vector{run::tensor_set(plan)}, request.inputs);
  const run::ExperimentResult result =
      run::run_experiment(plan, progress,
                          {.sensitivity = request.sensitivity,
                           .sink = tensors ? &tensors->sink() : nullptr,
                           .share = share});
  if (tensors) tensors->keep();
  return {result::to_json(result, {.links = request.links}).dump(), result::to_table(result),
          tensors ? to_json(tensors->paths()).dump() : "null"};
}

Answer run(const step::StepPlan& plan, const Request& request, const run::ShareDone&,
           const run::Progress& progress) {
  if (!request.tensors.empty())
    throw input::InputError(
        "",
        "tensors are arrays of collectives, but this is a whole step; write its "
        "tensors by 'equarx-sim run --output-tensors'");
  const step::StepResult result = step::run_step(
      plan, progress, {.uncertainty = request.uncertainty, .sensitivity = request.sensitivity});
  return {result::to_json(result, {.links = request.links}).dump(), result::to_table(result),
          "null"};
}

}  // namespace

AnyPlan make_any_plan(const Request& request) {
  return std::visit([](const auto& config) { return make(config); }, read_config(request));
}

plan::Plan make_plan(const Request& request) {
  AnyPlan made = make_any_plan(request);
  if (auto* plan = std::get_if<plan::Plan>(&made)) return std::move(*plan);
  throw input::InputError("", "expected a configuration of collectives, not of a step");
}

std::string resolve(const Request& request) {
  return std::visit([](const auto& config) { return to_json(config).dump(); },
                    read_config(request));
}

bool needs_simgrid(const AnyPlan& plan) {
  return std::visit([](const auto& one) { return uses_simgrid(one); }, plan);
}

Answer answer(const AnyPlan& plan, const Request& request, const run::ShareDone& share) {
  const auto progress = [&](const std::string&) {
    if (share) share(0.0);
  };
  return std::visit([&](const auto& one) { return run(one, request, share, progress); }, plan);
}

}  // namespace equarx::request
