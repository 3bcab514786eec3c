// How often the loops of a module run.
#pragma once

#include <cstdint>
#include <optional>

#include "models/hlo/module.hpp"

namespace equarx::hlo {

/// How often the body of a `while` runs: as its backend_config says by known_trip_count, or as its condition and body
/// show if they count up from a constant by a constant to a constant. None if neither tells.
std::optional<std::uint64_t> trip_count(const Module& module, const Computation& computation,
                                        const Instruction& loop);

}  // namespace equarx::hlo
