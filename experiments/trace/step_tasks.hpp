// Traces of steps.
#pragma once

#include <ostream>

#include "experiments/step/results.hpp"

namespace equarx::trace {

/// Writes a Perfetto trace of the tasks: a process per variant, a track per stream.
void write_tasks(const step::StepResult& result, std::ostream& out);

}  // namespace equarx::trace
