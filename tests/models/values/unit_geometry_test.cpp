#include "models/values/unit_geometry.hpp"

#include <vector>

#include "tests/catch.hpp"
#include "tests/models/values/unit_rings.hpp"

namespace equarx::values::unit_geometry_test {
namespace {

using collectives::Rank;
using namespace unit_rings;

TEST_CASE("a unit is in its coordinate's chunk, after the minishards before it") {
  Ring ring(5000);
  const collectives::Partition& partition = ring.program.partition;
  ring.geometry.start(unit_of(1, 2, 2));
  const collectives::Range range = partition.minishard({.minishard = 2});
  CHECK(ring.geometry.first_in_segment() == partition.chunk_begin(1, 0, 2) + range.begin);
  CHECK(ring.geometry.first_element() ==
        partition.segment_begin(1) + ring.geometry.first_in_segment());
  CHECK(ring.geometry.elements() == range.size());
  CHECK(ring.geometry.real_elements() == range.size());
}

TEST_CASE("padding is no real element") {
  // 45 elements in 8 chunks of 6: the last chunk starts at 42, and its three minishards are 2 long.
  Ring ring(45);
  for (const auto& [minishard, real] : {std::pair{0U, 2U}, {1U, 1U}, {2U, 0U}}) {
    ring.geometry.start(unit_of(1, 3, minishard));
    CHECK(ring.geometry.elements() == 2);
    CHECK(ring.geometry.real_elements() == real);
    CHECK(ring.geometry.without_padding({0, 2}).size() == real);
    CHECK(ring.geometry.without_padding({1, 2}).size() == (real == 2 ? 1 : 0));
  }
}

TEST_CASE("each tile of a unit is on the one rank whose chunk it is") {
  Ring ring(5000);
  ring.geometry.start(unit_of(0, 1, 0));
  for (std::uint32_t offset = 0; offset < kRanks; ++offset) {
    const collectives::Tile tile{.shard_offset = offset, .microshard = 1};
    std::vector<RankTile> found;
    ring.geometry.for_each_tile(tile, {}, [&](const RankTile& one) { found.push_back(one); });
    REQUIRE(found.size() == 1);
    CHECK(found[0].rank == (1 + kRanks - offset) % kRanks);
    CHECK(found[0].rank == ring.geometry.first_rank(tile));
    CHECK(found[0].range == ring.program.partition.microshard(tile));
    CHECK(found[0].in_minishard == found[0].range.begin);
    ring.geometry.for_each_tile(tile, {found[0].rank + 1, found[0].rank + 1},
                                [](const RankTile&) { FAIL("another rank"); });
  }
}

TEST_CASE("tiles of some columns follow one another, and one part has the begin of each") {
  const collectives::Program program =
      testing::make_ring_all_reduce(kRanks, 8 * 100'003, numerics::ElementFormat::fp32,
                                    testing::ring(collectives::RingStyle::full_loop, {true, true},
                                                  testing::int8_strided(), 1, 5));
  const LaneTable lanes(program);
  UnitGeometry geometry(lanes);
  std::vector<int> begins(5);
  std::size_t elements = 0;
  for (const LanePart& part : parts_of(lanes.lanes()[0])) {
    geometry.start({.coordinate = 1, .lane = 0, .part = part});
    CHECK_FALSE(geometry.has_all_columns());
    CHECK_FALSE(geometry.is_part());
    std::size_t end = 0;
    for (std::uint32_t microshard = 0; microshard < 5; ++microshard)
      geometry.for_each_tile({.microshard = microshard}, {}, [&](const RankTile& tile) {
        CHECK(tile.rank == 1);
        CHECK(tile.range.begin == end);
        CHECK(tile.in_minishard == end);
        end = tile.range.end;
        begins[microshard] += tile.begins_tile ? 1 : 0;
      });
    CHECK(end == geometry.elements());
    CHECK(geometry.minishard_elements({{}, 1}) == end);
    elements += end;
  }
  CHECK(elements == lanes.lanes()[0].range.size());
  CHECK(begins == std::vector<int>(5, 1));
}

TEST_CASE("ranks of a ring have no peers, and a producer is at its origin") {
  Ring ring(5000);
  ring.geometry.start(unit_of(0, 1, 0));
  CHECK(ring.geometry.peers().size() == 1);
  for (Rank rank = 0; rank < kRanks; ++rank) {
    CHECK(ring.geometry.slot_of(rank) == 0);
    CHECK(ring.geometry.producer_of({.offset = 3}, rank) == (rank + 3) % kRanks);
    CHECK(ring.geometry.producer_of({.root = true}, rank) == 0);
  }
}

TEST_CASE("an AllToAll and a NeighborAverage have a result for each rank") {
  collectives::Program program = ring_program(100);
  CHECK(result_rows(program) == 1);
  for (const auto collective :
       {collectives::Collective::all_to_all, collectives::Collective::neighbor_average}) {
    program.collective = collective;
    CHECK(result_rows(program) == kRanks);
  }
}

}  // namespace
}  // namespace equarx::values::unit_geometry_test
