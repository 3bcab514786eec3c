// A ring of four ranks, cut into units, for tests of the parts of a unit.
#pragma once

#include <cstdint>

#include "models/values/unit_geometry.hpp"
#include "tests/support/rings.hpp"

namespace equarx::values::unit_rings {

inline constexpr std::uint32_t kRanks = 4;

/// An AllReduce of FP32 by int8 in blocks of 32, in two segments of three minishards of two
/// microshards.
inline collectives::Program ring_program(std::uint64_t elements) {
  return testing::make_ring_all_reduce(kRanks, elements, numerics::ElementFormat::fp32,
                                       testing::ring(collectives::RingStyle::full_loop,
                                                     {true, true}, testing::int8_blocks(32), 3, 2));
}

/// The unit of a minishard, which is a lane of its own.
inline Unit unit_of(std::uint32_t segment, std::uint32_t coordinate, std::uint32_t minishard) {
  return {.coordinate = coordinate, .lane = segment * 3 + minishard};
}

/// A ring program with the geometry of its units.
struct Ring {
  explicit Ring(std::uint64_t elements) : program(ring_program(elements)) {}

  collectives::Program program;
  LaneTable lanes{program};
  UnitGeometry geometry{lanes};
};

}  // namespace equarx::values::unit_rings
