// Simulation of planned variants: all times of all tasks, or the time of the step alone for searches
// and samples.
#pragma once

#include <optional>
#include <vector>

#include "experiments/step/plan.hpp"
#include "experiments/step/totals.hpp"
#include "experiments/variation/variation.hpp"
#include "sim/repetition.hpp"
#include "sim/time_executor.hpp"

namespace equarx::step {

/// The engine that simulates a step: SimGrid only on request, as a step has many collectives.
sim::Engine engine_of(const config::StepConfig& config);

/// Number of threads that may simulate a step in parallel: `most` (0: one per core), or one with
/// SimGrid.
unsigned threads_for(const config::StepConfig& config, unsigned most);

/// Simulates all tasks of a variant.
sim::TimeResult simulate(const StepPlan& plan, const VariantPlan& variant);

/// Times of a variant that has too many messages to simulate all of them, if its tasks repeat: as of
/// sim::simulate_repeated(), with the traffic and core times of the whole step. std::nullopt if it
/// is small enough, or does not repeat. `totals`: of the variant
std::optional<sim::RepeatedTime> repeated_time(const StepPlan& plan, const VariantPlan& variant,
                                               const StepTotals& totals);

/// Simulates the first kind of step of a variant, in full unless it is too large. Returns its time, and what may be left out of the simulations of
/// similar variants (sim::find_cuts()); nothing if the configuration requests full simulations.
sim::StepTime find_cuts(const StepPlan& plan, const VariantPlan& variant);

/// Time of a variant as in its result but for sim::kSteady, the mean over its kinds of step, and the
/// cuts that were used for the first. `cuts`: of another variant of the step, or of the same on another machine.
sim::StepTime time_of(const StepPlan& plan, const VariantPlan& variant, const sim::Cuts& cuts);

/// Time and cuts of each variant, found with those of the baseline, which is simulated in full.
/// `threads`: as for threads_for()
std::vector<sim::StepTime> find_cuts(const StepPlan& plan, unsigned threads);

/// Returns the variants of a plan as runs on other machines. `found`: of find_cuts(), for these
/// variants and perhaps more. `threads`: as for threads_for()
variation::Varied varied_variants(const StepPlan& plan, std::vector<sim::StepTime> found,
                                  unsigned threads);

}  // namespace equarx::step
