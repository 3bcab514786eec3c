// Trip counts of loops.
#pragma once

#include <cstdint>
#include <optional>

#include "importers/hlo/module.hpp"

namespace equarx::hlo {

/// Returns how often the body of a `while` runs: known_trip_count of its backend_config; or, from
/// constant starts, the count implied by a counter that changes by a constant and is compared (LT, LE,
/// GT, GE, EQ, or NE where it is met) with constants; or at most 128 iterations of other integer
/// scalars. Constants may pass through the tuple of the loop, copies, conversions and fusions
/// (xla/service/while_loop_analysis.h). std::nullopt if none is available, or if the counter would
/// wrap around.
std::optional<std::uint64_t> trip_count(const Module& module, const Computation& computation,
                                        const Instruction& loop);

}  // namespace equarx::hlo
