// Choice between the candidates of a planned collective.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "experiments/plan/plan.hpp"
#include "experiments/run/results.hpp"
#include "sim/time_executor.hpp"

namespace equarx::run {

/// Simulates a candidate in isolation.
using SimulateCandidate = std::function<sim::TimeResult(const plan::CollectivePlan&)>;

/// The plan that runs, and how it was found.
struct Choice {
  const plan::CollectivePlan* plan = nullptr;
  std::optional<sim::TimeResult> time;  ///< set if choosing took a simulation
  std::vector<Candidate> candidates;    ///< of `auto`: all algorithms considered
};

/// Returns the only candidate, or else the fastest in isolation. A candidate whose lower bound
/// exceeds the best time is not simulated. `progress` is called with a line for each simulation.
Choice choose(const plan::PlannedCollective& planned, const SimulateCandidate& simulate,
              const std::function<void(const std::string&)>& progress);

}  // namespace equarx::run
