// Values of a sweep's axis that are given by their ends.
#pragma once

#include <vector>

#include "experiments/object_reader.hpp"

namespace equarx::experiments {

/// {"from", "to", "step"}: from, from + step, ... up to and including `to`. Numbers, or quantities with
/// their units; integers stay integers, and bytes whole. @throws InputError
std::vector<Json> expand_range(ObjectReader reader);

/// {"from", "to", "factor"}: from, from * factor, ... up to and including `to`. @throws InputError
std::vector<Json> expand_log_range(ObjectReader reader);

}  // namespace equarx::experiments
