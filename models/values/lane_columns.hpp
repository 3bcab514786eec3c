// Lanes with strided scale groups, computed some columns at a time.
#pragma once

#include <cstdint>

#include "models/collectives/program.hpp"

namespace equarx::values {

struct Lane;

/// True if the lanes of a program may be computed by columns with the same bits: if formats have
/// strided groups, or no scales, and round to nearest.
bool divides_into_columns(const collectives::Program& program);

/// Columns of a lane that are computed at once; all if it is small. A scale group of any minishard lies
/// in one column of the lane, wherever the minishard begins.
std::uint64_t columns_at_once(const collectives::Program& program, const Lane& lane);

}  // namespace equarx::values
