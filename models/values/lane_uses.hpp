// Lifetimes of the values and buffers of a unit.
#pragma once

#include <cstdint>
#include <vector>

#include "models/collectives/program.hpp"
#include "models/values/unit_geometry.hpp"

namespace equarx::values {

/// Bytes of the values of all ranks above which a unit holds values only while they are in use.
inline constexpr std::uint64_t kMuchAtOnce = std::uint64_t{32} << 20;

/// True if the inputs of the ranks of a unit of `elements` elements are read at their first use, and
/// once more for the exact result: in large units of collectives that sum.
bool reads_on_demand(const collectives::Program& program, std::uint64_t elements);

/// Last uses in a unit, by index of an instruction in its lane.
struct LaneUses {
  std::vector<std::vector<collectives::Rank>> ranks;        ///< whose values are used no more
  std::vector<std::vector<collectives::BufferId>> buffers;  ///< used no more
  std::uint64_t most_ranks = 0;                             ///< with values in use at the same time
  std::uint64_t most_bytes = 0;                             ///< of buffers in use at the same time
};

/// Uses in the unit at which `geometry` is.
LaneUses uses_of(const UnitGeometry& geometry);

}  // namespace equarx::values
