// Reports of step results.
#pragma once

#include <ostream>
#include <string>
#include <vector>

#include "experiments/input/object_reader.hpp"
#include "experiments/step/results.hpp"

namespace equarx::step {

/// One-line description of the simulated step.
std::string title_text(const StepResult& result);

/// Table that compares the variants.
std::string overview_table(const StepResult& result);

/// Full report: comparison of variants, and task groups of each.
std::string to_table(const StepResult& result);

/// Complete result with its configuration.
input::Json to_json(const StepResult& result);

/// Metrics of one variant with its label, as stored by sweeps and studies.
input::Json numbers_json(const VariantResult& variant);
/// Names of these metrics for a training step.
std::vector<std::string> number_names();

/// Writes a Perfetto trace of the tasks: a process per variant, a track per stream.
void write_trace(const StepResult& result, std::ostream& out);

}  // namespace equarx::step
