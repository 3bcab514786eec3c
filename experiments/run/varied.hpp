// An experiment repeated on machines with other parameters: intervals and sensitivities.
#pragma once

#include <cstddef>
#include <vector>

#include "experiments/run/results.hpp"
#include "experiments/variation/sensitivity.hpp"
#include "experiments/variation/uncertainty.hpp"
#include "experiments/variation/variation.hpp"

namespace equarx::run {

/// Returns the collectives of `result` for many runs: with the algorithms already chosen, an
/// automatic engine, no values and no intervals. None must have failed. On `threads` threads (0: one per core), but
/// sequentially if SimGrid is needed, which is not reentrant.
variation::Varied varied_runs(const ExperimentResult& result, unsigned threads);

/// Adds 68 % intervals to the runs of `result`, the nominal ones of `varied`: machines are sampled from
/// the uncertainties of their parameters, as often as requested; none if no parameter is uncertain. With
/// `sensitivity`, adds the sensitivities of the runs to each parameter, largest first. `progress` is
/// called with a line, from one thread at a time.
template <typename Config, typename Run>
void add_variation(Results<Config, Run>& result, const variation::Varied& varied,
                   const config::UncertaintyConfig& requested, bool sensitivity,
                   const variation::Progress& progress) {
  if (requested.samples > 0) {
    const std::vector<variation::Uncertainty> all =
        variation::uncertainties(variation::sample(varied, requested, progress));
    for (std::size_t i = 0; i < all.size(); ++i) result.runs[i].uncertainty = all[i];
  }
  if (!sensitivity) return;
  progress("computing sensitivities");
  result.sensitivities = variation::sensitivities(varied);
}

}  // namespace equarx::run
