// Trip counts of loops.
#pragma once

#include <cstdint>
#include <optional>

#include "importers/hlo/module.hpp"

namespace equarx::hlo {

/// Returns how often the body of a `while` runs: known_trip_count of its backend_config, or the
/// count implied by its condition and body if they count up from a constant by a constant to a
/// constant. std::nullopt if neither is available.
std::optional<std::uint64_t> trip_count(const Module& module, const Computation& computation,
                                        const Instruction& loop);

}  // namespace equarx::hlo
