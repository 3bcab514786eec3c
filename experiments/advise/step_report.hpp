// Advice for a step as text and as JSON.
#pragma once

#include <string>

#include "base/input/object_reader.hpp"
#include "experiments/advise/step_advice.hpp"

namespace equarx::advise {

/// About ten lines, and one for each group.
std::string to_text(const StepAdvice& advice);

/// The result of the compared steps (result::to_json()) with the advice under "advice"
/// (docs/results.md). `report` accepts it.
input::Json to_json(const StepAdvice& advice);

}  // namespace equarx::advise
