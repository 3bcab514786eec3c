// Parts of bounded size that lanes are computed in.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "models/collectives/program.hpp"

namespace equarx::values {

struct Lane;

/// Elements of a part: few enough that the values of eight ranks fit in the L2 cache, and whole scale
/// groups of all published formats with contiguous groups.
inline constexpr std::uint64_t kPartElements = 32 * 1024;

/// Likewise, for the values of many ranks.
std::uint64_t part_elements(std::uint32_t ranks);

/// A part of a lane: a range of it, or the elements of its rows in some columns, one row after
/// another. A row is as long as a vector register, and the first one begins with the range.
struct LanePart {
  collectives::Range range;  ///< within the lane
  collectives::Range columns = {0, numerics::kRegisterElements};

  bool has_all_columns() const { return columns.size() == numerics::kRegisterElements; }
  /// Number of elements of the part before element `at` of its range.
  std::uint64_t before(std::uint64_t at) const {
    if (has_all_columns()) return at;
    const std::uint64_t in_row = at % numerics::kRegisterElements;
    return at / numerics::kRegisterElements * columns.size() +
           std::clamp(in_row, columns.begin, columns.end) - columns.begin;
  }
  std::uint64_t size() const { return before(range.size()); }

  bool operator==(const LanePart&) const = default;
};

/// True if lanes of a program can be computed in consecutive parts with the same bits: if formats have
/// no scales, or scales of groups that divide a part.
bool divides_into_parts(const collectives::Program& program);

/// Elements of such parts of a lane; all if a minishard of it begins within a scale group of the part.
std::uint64_t elements_at_once(const collectives::Program& program, const Lane& lane);

/// The parts of a lane of `elements` elements, in order, of `most` each.
std::vector<LanePart> parts_of(std::uint64_t elements, std::uint64_t most);

/// Likewise, of `columns` columns each.
std::vector<LanePart> column_parts_of(std::uint64_t elements, std::uint64_t columns);

}  // namespace equarx::values
