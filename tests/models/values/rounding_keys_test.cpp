#include "models/values/rounding_keys.hpp"

#include <set>

#include "models/collectives/algorithm.hpp"
#include "tests/catch.hpp"
#include "tests/models/values/unit_rings.hpp"

namespace equarx::values::rounding_keys_test {
namespace {

using collectives::Instruction;
using collectives::Op;
using namespace unit_rings;

TEST_CASE("casts, buffers and sums of a rank have streams of their own") {
  Ring ring(5000);
  ring.geometry.start(unit_of(0, 1, 2));
  const RoundingKeys keys(ring.geometry, 77);
  const RankTile tile{.rank = 3, .range = {10, 20}};
  std::set<std::uint32_t> hops;
  std::size_t all = 0;
  for (const Instruction& instruction : ring.program.instructions) {
    const numerics::RoundingKey key = keys.of_buffer(instruction, tile);
    CHECK(key.seed == 77);
    CHECK(key.rank == 3);
    CHECK(key.first_element == ring.geometry.first_element() + 10);
    CHECK(key.hop == instruction.buffer);
    hops.insert(keys.of_sum(instruction, tile).hop);
    ++all;
  }
  CHECK(hops.size() == all);
  hops.insert(keys.of_cast(ring.program.instructions[0], tile).hop);
  CHECK(hops.size() == all + 1);
  for (collectives::BufferId id = 0; id < ring.program.buffers.size(); ++id)
    CHECK_FALSE(hops.contains(id));
}

TEST_CASE("ranks with the same sums share the stream of the first") {
  const collectives::RankGrid grid({2, 4});
  const collectives::Program program =
      collectives::find_algorithm("torus")->make({.collective = collectives::Collective::all_reduce,
                                                  .grid = grid,
                                                  .elements = 5000,
                                                  .dtype = numerics::ElementFormat::fp32,
                                                  .reduce_scatter = testing::int8_blocks(32),
                                                  .all_gather = testing::int8_blocks(32),
                                                  .cut = {.minishards = 1, .microshards = 1}});
  const LaneTable lanes(program);
  UnitGeometry geometry(lanes);
  geometry.start({});
  RoundingKeys keys(geometry, 1);
  const collectives::Rank last = grid.ranks() - 1;
  Instruction instruction{.op = Op::quantize};
  CHECK(keys.first_to_encode(instruction, last) == last);
  Instruction reduce{.op = Op::reduce};
  reduce.origin.gathered = 2;  // along axis 1
  keys.note_sums(reduce);
  const collectives::Rank first = keys.first_to_encode(instruction, last);
  CHECK(grid.coordinate(first, 0) == grid.coordinate(last, 0));
  CHECK(grid.coordinate(first, 1) == 0);
  CHECK(keys.of_buffer(instruction, {.rank = last, .range = {}}).rank == first);
  keys.start();
  CHECK(keys.first_to_encode(instruction, last) == last);
  instruction.phase = collectives::Phase::all_gather;
  instruction.tile.uncut = 1;  // the chunk is the same along the segment's last axis
  const std::size_t axis = program.partition.segment(geometry.lane().segment).axes.back();
  const collectives::Rank shared = keys.first_to_encode(instruction, last);
  CHECK(grid.coordinate(shared, axis) == 0);
  CHECK(grid.coordinate(shared, 1 - axis) == grid.coordinate(last, 1 - axis));
}

}  // namespace
}  // namespace equarx::values::rounding_keys_test
