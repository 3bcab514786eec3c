// The tables of metrics.
#pragma once

#include <concepts>

#include "experiments/result/metrics.hpp"
#include "experiments/run/results.hpp"
#include "experiments/step/results.hpp"

namespace equarx::result {

/// Metrics of a run of a collective, and the keys of its lists.
const Metrics<run::RunResult>& run_metrics();

/// Metrics of a variant of a step, as stored by sweeps and studies.
const Metrics<step::VariantResult>& variant_metrics();

/// Keys of the lists of a variant, and metrics of its simulation, which follow them.
const Metrics<step::VariantResult>& simulation_metrics();

/// Metrics that collectives and steps have in common, in parts: how they were simulated.
const Metrics<run::TimedRun>& simulation_kind_metrics();
/// Their messages.
const Metrics<run::TimedRun>& message_metrics();
/// Their intervals, under "uncertainty".
const Metrics<run::TimedRun>& interval_metrics();
/// Whether their chip is calibrated.
const Metrics<run::TimedRun>& calibration_metrics();

/// The same metrics of a collective or a variant.
template <std::derived_from<run::TimedRun> Run>
Metrics<Run> in_common(const Metrics<run::TimedRun>& metrics) {
  return within<Run>("", metrics, [](const Run& run) -> const run::TimedRun* { return &run; });
}

/// Metrics of an interval.
const Metrics<variation::Uncertainty>& uncertainty_metrics();

/// Metrics of energy and cost.
const Metrics<hardware::Expenses>& expense_metrics();

/// Metrics of values.
const Metrics<values::ValueResult>& numerics_metrics();

}  // namespace equarx::result
