// A step's result for people and for programs.
#pragma once

#include <ostream>
#include <string>
#include <vector>

#include "experiments/input/object_reader.hpp"
#include "experiments/step/results.hpp"

namespace equarx::step {

/// What was simulated, in a sentence.
std::string title_text(const StepResult& result);

/// Variants side by side.
std::string overview_table(const StepResult& result);

/// Tables: variants side by side, and the groups of tasks of each.
std::string to_table(const StepResult& result);

/// Everything, with the configuration that made it.
input::Json to_json(const StepResult& result);

/// The numbers of one variant, with its label: what sweeps and studies keep.
input::Json numbers_json(const VariantResult& variant);
/// Names of these numbers, of a step that trains a model.
std::vector<std::string> number_names();

/// Writes when each task went on, for Perfetto: a process for each variant, a track for each stream.
void write_trace(const StepResult& result, std::ostream& out);

}  // namespace equarx::step
