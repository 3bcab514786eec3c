// Ranges of values of a sweep's axis.
#pragma once

#include <cstdint>
#include <vector>

#include "base/input/json_value.hpp"
#include "experiments/sweep/sweep.hpp"

namespace equarx::sweep {

/// Expands {"from", "to", "step"} to from, from + step, ... up to and including `to`: numbers, or
/// quantities with units. Integers stay integers, and bytes whole. @throws InputError, also for
/// more than `most` values
std::vector<input::JsonValue> expand_range(input::ObjectReader reader,
                                           std::uint64_t most = kMostCombinations);

/// Expands {"from", "to", "factor"} to from, from * factor, ... up to and including `to`.
/// @throws InputError, also for more than `most` values
std::vector<input::JsonValue> expand_log_range(input::ObjectReader reader,
                                               std::uint64_t most = kMostCombinations);

/// Schema of "range" of an axis, with annotations.
input::Json range_schema();
/// Schema of "log_range" of an axis, with annotations.
input::Json log_range_schema();

}  // namespace equarx::sweep
