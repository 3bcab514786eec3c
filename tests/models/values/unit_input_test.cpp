#include "models/values/unit_input.hpp"

#include <algorithm>
#include <vector>

#include "tests/catch.hpp"
#include "tests/models/values/unit_rings.hpp"

namespace equarx::values::unit_input_test {
namespace {

using collectives::Collective;
using collectives::Rank;
using namespace unit_rings;

constexpr std::uint64_t kElements = 5000;

/// Input of a unit for any collective, and the values of the source in its place, by rank.
struct Inputs {
  explicit Inputs(Collective collective) {
    ring.program.collective = collective;
    ring.geometry.start(unit_of(1, 2, 1));
    input.read();
    for (Rank rank = 0; rank < kRanks; ++rank) {
      expected.emplace_back(ring.geometry.elements());
      source.read(rank, ring.geometry.first_element(), expected.back());
    }
  }

  bool has(Rank rank) { return std::ranges::equal(input.values(rank), expected[rank]); }
  bool is_exact(std::uint32_t row, Rank rank) {
    return std::ranges::equal(input.exact(row), expected[rank]);
  }

  Ring ring{kElements};
  TensorSource source{numerics::InputSpec{.seed = 3}, kElements, numerics::ElementFormat::fp32};
  UnitInput input{ring.geometry, source};
  std::vector<std::vector<float>> expected;
};

TEST_CASE("the ranks of an AllReduce have their inputs and the exact sum in double") {
  Inputs all(Collective::all_reduce);
  for (Rank rank = 0; rank < kRanks; ++rank) CHECK(all.has(rank));
  for (std::size_t i = 0; i < all.ring.geometry.elements(); ++i) {
    double sum = 0.0;
    for (const std::vector<float>& values : all.expected) sum += double{values[i]};
    REQUIRE(all.input.exact(0)[i] == sum);
  }
}

TEST_CASE("a unit of some columns has their values, row by row, and their sums") {
  const collectives::Program program =
      testing::make_ring_all_reduce(kRanks, 8 * 50'000, numerics::ElementFormat::fp32,
                                    testing::ring(collectives::RingStyle::full_loop, {true, true},
                                                  testing::int8_strided(), 1, 1));
  const LaneTable lanes(program);
  const std::vector<LanePart> parts = parts_of(lanes.lanes()[1]);
  REQUIRE(parts.size() > 1);
  const TensorSource source(numerics::InputSpec{.seed = 3}, program.partition.elements(),
                            numerics::ElementFormat::fp32);
  UnitGeometry geometry(lanes);
  UnitInput input(geometry, source);
  for (const LanePart& part : parts) {
    geometry.start({.coordinate = 2, .lane = 1, .part = part});
    input.read();
    std::vector<float> row(part.columns.size());
    for (std::size_t i = 0; i < geometry.elements(); ++i) {
      const std::uint64_t at =
          i / row.size() * numerics::kRegisterElements + part.columns.begin + i % row.size();
      double sum = 0.0;
      for (Rank rank = 0; rank < kRanks; ++rank) {
        float value = 0.0F;
        source.read(rank, geometry.first_element() + at, {&value, 1});
        REQUIRE(input.values(rank)[i] == value);
        sum += double{value};
      }
      REQUIRE(input.exact(0)[i] == sum);
    }
  }
}

TEST_CASE("only the root of a Broadcast has an input") {
  Inputs all(Collective::broadcast);
  CHECK(all.has(0));
  CHECK(all.input.values(1).empty());
  CHECK(all.is_exact(0, 0));
}

TEST_CASE("only the owner of a shard has an input of an AllGather") {
  Inputs all(Collective::all_gather);
  CHECK(all.has(2));
  CHECK(all.input.values(1).empty());
  CHECK(all.is_exact(0, 2));
}

TEST_CASE("an AllToAll has an exact result for each sender") {
  Inputs all(Collective::all_to_all);
  for (Rank rank = 0; rank < kRanks; ++rank) CHECK((all.has(rank) && all.is_exact(rank, rank)));
}

TEST_CASE("a tile is a part of its rank's values") {
  Inputs all(Collective::all_reduce);
  const std::span<float> tile = all.input.values({.rank = 3, .range = {5, 9}});
  CHECK(tile.data() == &all.input.values(3)[5]);
  CHECK(tile.size() == 4);
}

}  // namespace
}  // namespace equarx::values::unit_input_test
