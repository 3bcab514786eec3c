#include "models/values/lanes.hpp"

#include <algorithm>
#include <cstdint>
#include <set>
#include <utility>
#include <vector>

#include "tests/catch.hpp"
#include "tests/support/rings.hpp"

namespace equarx::lanes_test {

using namespace equarx::values;
using namespace equarx::collectives;
using namespace equarx::testing;
using equarx::numerics::ElementFormat;

TEST_CASE("lanes divide a program's instructions and buffers, one minishard each") {
  const Program program =
      make_ring_all_reduce(4, 5000, ElementFormat::fp32,
                           ring(RingStyle::full_loop, {true, true}, int8_blocks(32), 3, 2));
  const LaneTable lanes(program);
  REQUIRE(lanes.lanes().size() == 2 * 3);  // segments, minishards
  std::vector<int> instructions(program.instructions.size());
  std::vector<int> buffers(program.buffers.size());
  std::set<std::pair<std::uint32_t, std::uint32_t>> minishards;
  for (const Lane& lane : lanes.lanes()) {
    REQUIRE(std::ranges::is_sorted(lane.instructions));
    for (const InstructionId id : lane.instructions) ++instructions[id];
    REQUIRE(std::ranges::is_sorted(lane.buffers));
    REQUIRE_FALSE(lane.buffers.empty());
    const Tile& first = program.buffers[lane.buffers.front()].tile;
    REQUIRE(minishards.emplace(first.segment, first.minishard).second);
    for (const BufferId id : lane.buffers) {
      ++buffers[id];
      REQUIRE(program.buffers[id].tile.segment == first.segment);
      REQUIRE(program.buffers[id].tile.minishard == first.minishard);
    }
  }
  for (InstructionId id = 0; id < instructions.size(); ++id)  // barriers have no values
    REQUIRE(instructions[id] == (program.instructions[id].op == Op::barrier ? 0 : 1));
  REQUIRE(buffers == std::vector<int>(buffers.size(), 1));
}

TEST_CASE("without scales each microshard is a lane, and lanes cover their segment") {
  const RingOptions options{.style = RingStyle::full_loop,
                            .reduce_scatter = {.element = ElementFormat::bf16},
                            .all_gather = {.element = ElementFormat::bf16},
                            .cut = {.minishards = 2, .microshards = 3}};
  const Program program = make_ring_all_reduce(4, 40'001, ElementFormat::bf16, options);
  const LaneTable lanes(program);
  REQUIRE(lanes.lanes().size() == 2 * 2 * 3);
  std::uint64_t end = 0;
  for (std::size_t i = 0; i < 6; ++i) {
    REQUIRE(lanes.lanes()[i].range.begin == end);
    end = lanes.lanes()[i].range.end;
  }
  REQUIRE(end == program.partition.chunk_elements(0));
}

}  // namespace equarx::lanes_test
