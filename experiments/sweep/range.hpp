// Values of a sweep's axis that are given by their ends.
#pragma once

#include <vector>

#include "experiments/input/json_value.hpp"

namespace equarx::sweep {

/// {"from", "to", "step"}: from, from + step, ... up to and including `to`. Numbers, or quantities with
/// their units; integers stay integers, and bytes whole. @throws InputError
std::vector<input::JsonValue> expand_range(input::ObjectReader reader);

/// {"from", "to", "factor"}: from, from * factor, ... up to and including `to`. @throws InputError
std::vector<input::JsonValue> expand_log_range(input::ObjectReader reader);

}  // namespace equarx::sweep
