// An experiment that another program asks for, as text, and the answer as text: of the Python package, which runs
// some in its own process and others in a helper.
#pragma once

#include <string>
#include <vector>

#include "experiments/plan/plan.hpp"
#include "experiments/run/experiment.hpp"

namespace equarx::request {

/// A value of the configuration that is set before it is read, as `--set POINTER=TEXT` does.
struct Override {
  std::string pointer;  ///< JSON pointer
  std::string text;     ///< JSON, or plain text if it is none
};

/// What is asked for.
struct Request {
  std::string config;  ///< JSON text of an experiment (docs/configuration.md)
  std::vector<Override> overrides;
  bool links = false;        ///< with every link direction
  bool uncertainty = false;  ///< with intervals, whatever the configuration says
  bool sensitivity = false;  ///< with what times depend on
  /// Where to write what ranks end with (run::make_tensor_store); empty if nowhere.
  std::string tensors = {};
  bool inputs = false;  ///< with `tensors`: what ranks begin with, too
};

/// The answer, as `equarx-sim run` prints it.
struct Answer {
  std::string json;   ///< one object, on one line (docs/results.md)
  std::string table;  ///< the same for people
  /// "null", or the paths of files as JSON: {"results": [PATH of each collective], "exact_sum": PATH or null,
  /// "inputs": [PATH of each rank]}
  std::string tensors;
};

/// Reads what is asked for, and plans it as one run of many (plan::Look), because who asks by program asks often.
/// @throws InputError as `equarx-sim run` does
plan::Plan make_plan(const Request& request);

/// The configuration that is asked for, with every default filled in, as JSON. @throws InputError
std::string resolve(const Request& request);

/// Whether SimGrid may be what simulates some of it. That forks, which a process with several threads must not.
bool needs_simgrid(const plan::Plan& plan);

/// Runs the plan that make_plan() made of the request. `share` may throw to end it early.
Answer answer(const plan::Plan& plan, const Request& request, const run::ShareDone& share = {});

}  // namespace equarx::request
