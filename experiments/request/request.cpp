#include "experiments/request/request.hpp"

#include <algorithm>
#include <filesystem>
#include <optional>

#include "experiments/config/json.hpp"
#include "experiments/config/set_value.hpp"
#include "experiments/input/json.hpp"
#include "experiments/input/json_text.hpp"
#include "experiments/input/schema.hpp"
#include "experiments/result/json.hpp"
#include "experiments/result/table.hpp"
#include "experiments/run/tensor_files.hpp"

namespace equarx::request {
namespace {

config::ExperimentConfig read_config(const Request& request) {
  input::Json json = input::parse_json(request.config);
  for (const Override& override : request.overrides)
    config::override_value(json, override.pointer, override.text);
  config::ExperimentConfig config = config::read_config(json);
  input::check_schema(json, "experiment");
  if (request.uncertainty) config.uncertainty.request();
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

}  // namespace

plan::Plan make_plan(const Request& request) {
  return plan::make_plan(read_config(request), plan::RunProfile::batch);
}

std::string resolve(const Request& request) { return config::to_json(read_config(request)).dump(); }

bool needs_simgrid(const plan::Plan& plan) {
  const auto on_simgrid = [](const plan::CollectivePlan& candidate) {
    return candidate.engine.engine == sim::Engine::simgrid;
  };
  return std::ranges::any_of(plan.collectives, [&](const plan::PlannedCollective& collective) {
    return std::ranges::any_of(collective.candidates, on_simgrid);
  });
}

Answer answer(const plan::Plan& plan, const Request& request, const run::ShareDone& share) {
  const auto progress = [&](const std::string&) {
    if (share) share(0.0);
  };
  std::optional<run::TensorFiles> tensors;
  if (!request.tensors.empty()) tensors.emplace(request.tensors, plan, request.inputs);
  const run::ExperimentResult result = run::run_experiment(
      plan, progress,
      {.sensitivity = request.sensitivity, .sink = tensors ? &*tensors : nullptr, .share = share});
  if (tensors) tensors->keep();
  return {result::to_json(result, {.links = request.links}).dump(), result::to_table(result),
          tensors ? to_json(tensors->paths()).dump() : "null"};
}

}  // namespace equarx::request
