#include "experiments/request/request.hpp"

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <map>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "base/input/errors.hpp"
#include "base/input/json.hpp"
#include "base/input/json_text.hpp"
#include "base/input/pointer.hpp"
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

/// Own algorithms by index of their collective.
using OwnAlgorithms = std::map<std::size_t, config::Algorithm>;

constexpr std::string_view kAlgorithm = "algorithm";

/// The row of the table whose keys and checks apply to an algorithm like this one in a collective.
std::string_view stand_in(const collectives::AlgorithmInfo& own, std::string_view collective) {
  const bool moves = collective == "all-to-all";
  if (collectives::is_of_slices(own.layout))
    return moves ? "hierarchical-direct" : "hierarchical-two-shot";
  if (moves || collective == "broadcast") return "direct";
  if (collective == "neighbor-average") return "neighbors";
  return collective == "all-reduce" && !own.has_two_phases ? "one-shot" : "halving-doubling";
}

std::string collective_of(const input::Json& config) {
  const input::Json found = config.value("collective", input::Json("all-reduce"));
  return found.is_string() ? found.get<std::string>() : std::string();
}

/// Replaces the names of own algorithms by their stand-ins' names.
OwnAlgorithms take_own_algorithms(const Request& request, input::Json& json) {
  OwnAlgorithms found;
  if (!json.is_object() || !json.contains("collectives") || !json["collectives"].is_array())
    return found;
  input::Json& collectives = json["collectives"];
  for (std::size_t i = 0; i < collectives.size(); ++i)
    for (const auto& own : request.algorithms) {
      input::Json& one = collectives[i];
      if (!one.is_object() || one.value(kAlgorithm, input::Json()) != own->name) continue;
      one[std::string(kAlgorithm)] = stand_in(*own, collective_of(json));
      if (!one.contains("label")) one["label"] = own->name;
      found.emplace(i, own.get());
    }
  return found;
}

/// Puts own algorithms in the places of their stand-ins.
void put_own_algorithms(const OwnAlgorithms& own, config::ExperimentConfig& config) {
  for (const auto& [index, algorithm] : own) {
    const std::string pointer = input::pointer(input::pointer("/collectives", index), kAlgorithm);
    if (!algorithm->does(config.collective))
      throw input::InputError(
          pointer, fmt::format("'{}' is not written for {}; name this collective in its definition",
                               algorithm->name, collectives::name(config.collective)));
    config::CollectiveConfig& collective = config.collectives.at(index);
    if (!config::fits_format(algorithm, collective.format))
      throw input::InputError(
          pointer, fmt::format("'{}' cannot sum '{}', whose codes are summed pairwise; use another "
                               "format, like \"int8\"",
                               algorithm->name, collective.format.name));
    if (collective.arithmetic.order != collectives::SumOrder::arrival)
      throw input::InputError(
          input::pointer(input::pointer("/collectives", index), "arithmetic"),
          fmt::format("'{}' itself determines the order of its sums; remove \"order\"",
                      algorithm->name));
    collective.algorithm = algorithm;
  }
  if (!own.empty() && config.engine == config::EngineMode::simgrid)
    throw input::InputError("/engine",
                            fmt::format("'{}' runs on the direct engine only; use \"direct\"",
                                        own.begin()->second->name));
  if (!own.empty()) config.engine = config::EngineMode::direct;
}

/// Reads a configuration whose own algorithms have been taken out. Errors name the stand-in where
/// the own algorithm is meant.
config::Config read_with(const OwnAlgorithms& own, const input::Json& json) {
  try {
    return config::read_checked(json);
  } catch (const input::InputError& error) {
    for (const auto& [index, algorithm] : own)
      if (error.pointer() == input::pointer(input::pointer("/collectives", index), kAlgorithm))
        throw input::InputError(
            error.pointer(),
            fmt::format("'{}' does not fit the format or the collective; use a format "
                        "like \"int8\" or \"bf16\"",
                        algorithm->name));
    throw;
  }
}

config::Config read_config(const Request& request) {
  input::Json json = input::parse_json(request.config);
  for (const Override& override : request.overrides)
    config::override_value(json, override.pointer, override.text);
  const OwnAlgorithms own = take_own_algorithms(request, json);
  config::Config config = read_with(own, json);
  if (auto* experiment = std::get_if<config::ExperimentConfig>(&config)) {
    put_own_algorithms(own, *experiment);
    if (request.uncertainty) experiment->uncertainty.request();
  }
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

plan::Plan make(const config::ExperimentConfig& config) {
  return plan::make_plan(config, plan::RunProfile::batch);
}

step::StepPlan make(const config::StepConfig& config) { return step::make_plan(config); }

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
  return std::visit([](const auto& config) -> AnyPlan { return make(config); },
                    read_config(request));
}

plan::Plan make_plan(const Request& request, plan::RunProfile profile) {
  return plan::make_plan(collectives_of(request), profile);
}

config::ExperimentConfig collectives_of(const Request& request) {
  config::Config config = read_config(request);
  if (auto* experiment = std::get_if<config::ExperimentConfig>(&config))
    return std::move(*experiment);
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
