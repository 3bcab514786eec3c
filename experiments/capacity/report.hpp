// A plan as text and as JSON.
#pragma once

#include <string>

#include "base/input/object_reader.hpp"
#include "experiments/capacity/capacity.hpp"

namespace equarx::capacity {

/// The ranked candidates, machines that do not fit, and sensitivities of the best.
std::string to_text(const Plan& plan);

/// Everything, with all simulated points, and all candidates by their steady state.
input::Json to_json(const Plan& plan);

}  // namespace equarx::capacity
