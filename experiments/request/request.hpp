// Experiments requested by another program, text in and text out. Used by the Python package, which
// runs some in its own process and others in a helper process.
#pragma once

#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "experiments/plan/plan.hpp"
#include "experiments/run/experiment.hpp"
#include "experiments/step/plan.hpp"
#include "models/collectives/algorithm.hpp"

namespace equarx::request {

/// A configuration value to override before reading, like `--set POINTER=TEXT`.
struct Override {
  std::string pointer;  ///< JSON pointer
  std::string text;     ///< JSON, or else plain text
};

/// A request.
struct Request {
  std::string config;  ///< JSON text of an experiment (docs/configuration.md)
  std::vector<Override> overrides;
  bool links = false;        ///< include every link direction
  bool uncertainty = false;  ///< include intervals, even if the configuration does not
  bool sensitivity = false;  ///< include sensitivities
  /// Where to write the ranks' results (run::make_tensor_store); empty: nowhere.
  std::string tensors = {};
  bool inputs = false;  ///< with `tensors`: also write the ranks' inputs
  /// Algorithms of the caller's own, which "collectives" of the configuration may name, as they name
  /// rows of the table. They must outlive the plan. Only for the direct engine.
  std::vector<std::shared_ptr<const collectives::AlgorithmInfo>> algorithms = {};
};

/// The answer, in the format of `equarx-sim run`.
struct Answer {
  std::string json;   ///< one object, on one line (docs/results.md)
  std::string table;  ///< the table for people
  /// "null", or file paths as JSON: {"results": [PATH per collective], "exact_sum": PATH or null,
  /// "inputs": [PATH per rank]}
  std::string tensors;
};

/// Plan of collectives or of a step.
using AnyPlan = std::variant<plan::Plan, step::StepPlan>;

/// Reads the request and plans it as one of many runs (RunProfile::batch), because programs tend to
/// send many requests. @throws InputError like `equarx-sim run`
AnyPlan make_any_plan(const Request& request);
/// The same for collectives, for runs with any purpose. @throws InputError also for a step
plan::Plan make_plan(const Request& request, plan::RunProfile profile = plan::RunProfile::batch);

/// The requested configuration of collectives. @throws InputError also for a step
config::ExperimentConfig collectives_of(const Request& request);

/// The requested configuration as JSON, with all defaults filled in. @throws InputError
std::string resolve(const Request& request);

/// True if SimGrid may simulate part of the plan. SimGrid forks, which a multi-threaded process
/// must not.
bool needs_simgrid(const AnyPlan& plan);

/// Runs the plan created by make_any_plan() for the request. `share` may throw to cancel.
Answer answer(const AnyPlan& plan, const Request& request, const run::ShareDone& share = {});

}  // namespace equarx::request
