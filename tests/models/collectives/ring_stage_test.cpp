#include "models/collectives/ring_stage.hpp"

#include <vector>

#include "models/collectives/ring_partition.hpp"
#include "tests/catch.hpp"
#include "tests/support/rings.hpp"

namespace equarx::ring_stage_test {

using namespace equarx::collectives;
using namespace equarx::testing;

namespace {

using Directions = std::vector<Direction>;

ProgramWriter writer_for(RingStyle style, std::vector<std::uint32_t> lengths) {
  const RingOptions options = ring(style, {false, false}, {}, 1, 1);
  return ProgramWriter({Collective::all_reduce,
                        make_ring_partition(RankGrid(std::move(lengths)), 100'000, options),
                        equarx::numerics::ElementFormat::bf16,
                        {options.reduce_scatter, options.all_gather},
                        {},
                        {},
                        {},
                        {}});
}

}  // namespace

TEST_CASE("a semi-loop's stages: steps, directions and channels along each axis") {
  ProgramWriter writer = writer_for(RingStyle::semi_loop, {2, 5});
  const RingStages stages(writer, RingStyle::semi_loop, 0,
                          {Direction::forward, Direction::backward});
  REQUIRE(stages.count() == 2);
  // Two ranks have one step forward; five are at most two steps away in either direction.
  REQUIRE(stages.steps(Direction::forward, 0) == 1);
  REQUIRE(stages.steps(Direction::backward, 0) == 0);
  REQUIRE(stages.longest(1) == 2);
  REQUIRE(stages.directions_with(1, 0) == Directions{Direction::forward});
  REQUIRE(stages.directions_with(2, 1) == Directions{Direction::forward, Direction::backward});
  const auto& channels = writer.program().channels;
  REQUIRE(channels.size() == 3);
  REQUIRE(channels[stages.channel(Direction::forward, 0)].name == "forward along axis 0");
  REQUIRE(channels[stages.channel(Direction::forward, 0)].offset == 5);
  REQUIRE(channels[stages.channel(Direction::backward, 1)].name == "backward along axis 1");
  REQUIRE(channels[stages.channel(Direction::backward, 1)].offset == 4);
}

TEST_CASE("a direction that a segment does not use has no steps and no channel") {
  ProgramWriter writer = writer_for(RingStyle::full_loop, {4});
  const RingStages stages(writer, RingStyle::full_loop, 1, {Direction::backward});
  REQUIRE(stages.steps(Direction::forward, 0) == 0);
  REQUIRE(stages.steps(Direction::backward, 0) == 3);
  REQUIRE(writer.program().channels.size() == 1);
  REQUIRE(writer.program().channels[0].name == "backward");
}

TEST_CASE("offsets of several hops, and axes that do not cut a stage's chunks") {
  ProgramWriter writer = writer_for(RingStyle::semi_loop, {3, 4});
  // Segment 1 uses axis 1 first.
  const RingStages stages(writer, RingStyle::semi_loop, 1,
                          {Direction::forward, Direction::backward});
  REQUIRE(stages.offset_by(Direction::forward, 3, 0) == 3);
  REQUIRE(stages.offset_by(Direction::backward, 3, 0) == 1);
  REQUIRE(stages.offset_by(Direction::backward, 0, 0) == 0);
  REQUIRE(stages.offset_by(Direction::forward, 2, 1) == 8);
  REQUIRE(stages.uncut(0) == 1);
  REQUIRE(stages.uncut(1) == 0);
  REQUIRE(stages.later_axes(0) == 0b01);
  REQUIRE(stages.later_axes(1) == 0);
  REQUIRE(stages.tile(2, 7, 1) ==
          Tile{.shard_offset = 7, .segment = 1, .uncut = 1, .minishard = 2});
}

}  // namespace equarx::ring_stage_test
