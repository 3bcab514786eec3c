// Parts of bounded size that lanes are computed in.
#pragma once

#include <cstdint>
#include <vector>

#include "models/collectives/program.hpp"

namespace equarx::values {

/// Elements of a part: few enough that the values of eight ranks fit in the L2 cache, and whole scale
/// groups of all published formats with contiguous groups.
inline constexpr std::uint64_t kPartElements = 32 * 1024;

/// True if the lanes of a program can be computed in parts with the same bits: if formats have no
/// scales, or scales of groups that divide a part, of minishards that are lanes.
bool divides_into_parts(const collectives::Program& program);

/// The parts of a range of `elements` elements, in order. `whole`: a single one.
std::vector<collectives::Range> parts_of(std::uint64_t elements, bool whole);

}  // namespace equarx::values
