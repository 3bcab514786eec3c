// An experiment repeated on machines with other parameters: intervals and sensitivities.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "experiments/run/results.hpp"
#include "experiments/variation/variation.hpp"

namespace equarx::run {

/// True if a collective did not finish, so that its time on another machine is meaningless.
bool has_failed(const ExperimentResult& result);

/// Returns the collectives of `result` for many runs: with the algorithms already chosen, an
/// automatic engine, no values and no intervals. On `threads` threads (0: one per core), but
/// sequentially if SimGrid is needed, which is not reentrant.
variation::Varied varied_runs(const ExperimentResult& result, unsigned threads);

/// Adds 68 % intervals to the runs of `result`: machines are sampled from the uncertainties of
/// their parameters, as often as the configuration requests. Adds none if a collective fails or no
/// parameter is uncertain. `progress` is called with a line, from one thread at a time.
void add_intervals(ExperimentResult& result, const variation::Progress& progress, unsigned threads);

/// Computes the sensitivity of the collectives of `result` to each parameter of its machine,
/// largest first. Empty if a collective fails.
std::vector<variation::Sensitivity> find_sensitivities(const ExperimentResult& result,
                                                       unsigned threads);

}  // namespace equarx::run
