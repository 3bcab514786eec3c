// Values of a sweep's axis that are given by their ends.
#pragma once

#include <cstdint>
#include <vector>

#include "experiments/input/json_value.hpp"
#include "experiments/sweep/sweep.hpp"

namespace equarx::sweep {

/// {"from", "to", "step"}: from, from + step, ... up to and including `to`. Numbers, or quantities with
/// their units; integers stay integers, and bytes whole. @throws InputError, also for more than `most`
std::vector<input::JsonValue> expand_range(input::ObjectReader reader,
                                           std::uint64_t most = kMostCombinations);

/// {"from", "to", "factor"}: from, from * factor, ... up to and including `to`. @throws InputError likewise
std::vector<input::JsonValue> expand_log_range(input::ObjectReader reader,
                                               std::uint64_t most = kMostCombinations);

}  // namespace equarx::sweep
