#include "models/collectives/hierarchical_program.hpp"

#include <algorithm>
#include <stdexcept>

#include "models/collectives/traffic.hpp"
#include "tests/catch.hpp"
#include "tests/support/rings.hpp"

namespace equarx::hierarchical_program_test {

using namespace equarx::collectives;
using namespace equarx::testing;
using equarx::numerics::BlockFormat;
using equarx::numerics::ElementFormat;

namespace {

constexpr std::uint64_t kElements = 48'000;
const BlockFormat kBf16 = plain(ElementFormat::bf16);

Program rings(const RankGrid& grid, const BlockFormat& within, const BlockFormat& between,
              Collective collective = Collective::all_reduce) {
  return make_hierarchical_rings(grid, kElements, ElementFormat::bf16,
                                 {.reduce_scatter = within,
                                  .all_gather = within,
                                  .cut = {.minishards = 1, .microshards = 1},
                                  .collective = collective},
                                 {between, between, {1, 1}});
}

/// Bytes that a rank sends along the axis of slices, and along the others.
struct Levels {
  std::uint64_t between = 0;
  std::uint64_t within = 0;
};

Levels sent_by_level(const Program& program) {
  const std::vector<std::uint64_t> bytes = sent_bytes(program);
  Levels levels;
  for (ChannelId id = 0; id < program.channels.size(); ++id) {
    const bool between = program.grid().coordinate(program.channels[id].offset, kSliceAxis) != 0;
    (between ? levels.between : levels.within) += bytes[id];
  }
  return levels;
}

}  // namespace

TEST_CASE("a chip sends as in a single slice within it, and its share of a chip between slices") {
  // Chunks of 12,000 elements on four chips, shards of 6,000 on two slices.
  const Levels bf16 = sent_by_level(rings(RankGrid({2, 4}), kBf16, kBf16));
  CHECK(bf16.within == 2 * 3 * 12'000 * 2);
  CHECK(bf16.between == 2 * 6'000 * 2);
  const Levels exchange = sent_by_level(
      make_hierarchical_exchange(Collective::all_reduce, RankGrid({2, 4}), kElements,
                                 ElementFormat::bf16, {kBf16, kBf16, {}}, {kBf16, kBf16, {}}));
  CHECK(exchange.within == bf16.within);
  CHECK(exchange.between == bf16.between);
  // Half of it in each half of the collective.
  for (const Collective half : {Collective::reduce_scatter, Collective::all_gather}) {
    const Levels one = sent_by_level(rings(RankGrid({2, 4}), kBf16, kBf16, half));
    CHECK(2 * one.within == bf16.within);
    CHECK(2 * one.between == bf16.between);
  }
}

TEST_CASE("only a quantized level has scales") {
  const BlockFormat int8 = int8_blocks(100);
  const Program between = rings(RankGrid({2, 4}), kBf16, int8);
  for (const Buffer& buffer : between.buffers) {
    const bool scales = buffer.content == Content::scales;
    const bool outer =
        buffer.phase == Phase::reduce_scatter_between || buffer.phase == Phase::all_gather_between;
    if (scales) CHECK(outer);
    CHECK(buffer.tile.uncut == (outer ? 0 : 1));
  }
  // Six thousand bytes and sixty FP32 scales in both phases, in two segments of half the size.
  CHECK(sent_by_level(between).between == 2 * (6'000 + 60 * 4));
  const Program within = rings(RankGrid({2, 4}), int8, kBf16);
  CHECK(sent_by_level(within).between == 2 * 6'000 * 2);
}

TEST_CASE("levels are sequential") {
  const Program program = rings(RankGrid({3, 2, 2}), int8_blocks(50), int8_blocks(50));
  constexpr Phase kOrder[] = {Phase::reduce_scatter, Phase::reduce_scatter_between,
                              Phase::all_gather_between, Phase::all_gather};
  std::size_t reached = 0;
  for (const Instruction& instruction : program.instructions) {
    const auto at = static_cast<std::size_t>(std::ranges::find(kOrder, instruction.phase) - kOrder);
    CHECK(at >= reached);
    reached = at;
  }
  CHECK(reached == 3);
}

TEST_CASE("the grid within a slice is the whole grid without the axis of slices") {
  CHECK(within_slice(RankGrid({3, 2, 4})) == RankGrid({2, 4}));
  CHECK_THROWS_AS(within_slice(RankGrid({3})), std::invalid_argument);
}

TEST_CASE("a hierarchical program refuses unsupported collectives and grids") {
  CHECK_THROWS_AS(rings(RankGrid({4}), kBf16, kBf16), std::invalid_argument);
  CHECK_THROWS_AS(rings(RankGrid({2, 2}), kBf16, kBf16, Collective::broadcast), std::logic_error);
  CHECK_THROWS_AS(
      make_hierarchical_exchange(Collective::all_reduce, RankGrid({2, 2, 2}), kElements,
                                 ElementFormat::bf16, {kBf16, kBf16, {}}, {kBf16, kBf16, {}}),
      std::logic_error);
}

}  // namespace equarx::hierarchical_program_test
