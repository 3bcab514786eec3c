#include "models/collectives/ring_partition.hpp"

#include <cstdint>
#include <stdexcept>
#include <vector>

#include "tests/catch.hpp"
#include "tests/support/rings.hpp"

namespace equarx::ring_partition_test {

using namespace equarx::collectives;
using namespace equarx::testing;

namespace {

constexpr std::uint64_t kElements = 30'011;

}  // namespace

TEST_CASE("a full loop has two segments per order of the axes, a semi-loop one") {
  RingOptions options = ring(RingStyle::semi_loop, {true, true}, int8_blocks(32), 2, 3);
  REQUIRE(make_ring_partition(RankGrid({3, 5}), kElements, options).segments() == 2);
  options.style = RingStyle::full_loop;
  const Partition partition = make_ring_partition(RankGrid({3, 5}), kElements, options);
  REQUIRE(partition.segments() == 4);
  for (std::uint32_t segment = 0; segment < 4; ++segment)
    for (const std::uint32_t uncut : {0U, 1U})
      REQUIRE(partition.cut(segment, uncut) == Cut{.minishards = 2, .microshards = 3});
}

TEST_CASE("chunks are cut for the quantized format of the phases that use them") {
  // A million elements of bf16 are one minishard; int8 has one per 128 x 1024.
  const auto shards_of = [](Quantized phases, Collective collective) {
    RingOptions options = ring(RingStyle::semi_loop, phases, int8_strided(), 1, 1);
    options.cut = {};
    options.collective = collective;
    options.rotate_axes = false;
    return make_ring_partition(RankGrid({2, 2}), std::uint64_t{4} << 20, options);
  };
  const Partition both = shards_of({true, true}, Collective::all_reduce);
  REQUIRE(both.cut(0, 0).minishards == 8);
  REQUIRE(both.cut(0, 1).minishards == 16);
  // The AllGather's chunks are shards; only the ReduceScatter uses larger ones.
  const Partition gather = shards_of({false, true}, Collective::all_reduce);
  REQUIRE(gather.cut(0, 0).minishards == 8);
  REQUIRE(gather.cut(0, 1).minishards == 1);
  REQUIRE(shards_of({true, false}, Collective::all_gather).cut(0, 0).minishards == 1);
}

TEST_CASE("further segments use rotated orders of the axes, so that all start at once") {
  const auto axes_of = [](const RingOptions& options) {
    const Partition partition = make_ring_partition(RankGrid({2, 3, 4}), kElements, options);
    std::vector<std::vector<std::size_t>> found;
    for (std::uint32_t segment = 0; segment < partition.segments(); ++segment)
      found.push_back(partition.segment(segment).axes);
    return found;
  };
  using Orders = std::vector<std::vector<std::size_t>>;
  RingOptions options = ring(RingStyle::semi_loop, {true, true}, int8_blocks(32), 1, 1);
  REQUIRE(axes_of(options) == Orders{{0, 1, 2}, {1, 2, 0}, {2, 0, 1}});
  options.axes = {2, 1, 0};
  REQUIRE(axes_of(options) == Orders{{2, 1, 0}, {1, 0, 2}, {0, 2, 1}});
  options.rotate_axes = false;
  REQUIRE(axes_of(options) == Orders{{2, 1, 0}});
  options.style = RingStyle::full_loop;
  REQUIRE(axes_of(options) == Orders{{2, 1, 0}, {2, 1, 0}});
}

TEST_CASE("missing values of a cut are chosen per kind of chunk") {
  RingOptions options = ring(RingStyle::full_loop, {true, true}, int8_strided(), 1, 1);
  options.cut = {};
  const std::uint64_t elements = std::uint64_t{4} * 16 * 3 * 128 * 1024;
  const Partition partition = make_ring_partition(RankGrid({4, 4}), elements, options);
  REQUIRE(partition.cut(0, 0).minishards == 3);  // at 128 elements per scale
  REQUIRE(partition.cut(0, 1).minishards == 12);
  REQUIRE(partition.cut(0, 0).microshards == 4);
  options.cut.elements_per_scale = 64;
  const Partition finer = make_ring_partition(RankGrid({4, 4}), elements, options);
  REQUIRE(finer.cut(0, 0).minishards == 6);
}

TEST_CASE("tensors that a torus cannot partition are refused") {
  const RingOptions options = ring(RingStyle::full_loop, {true, true}, int8_strided(), 2, 2);
  const RankGrid grid({2, 2});
  REQUIRE_NOTHROW(make_ring_partition(grid, 4 * 4 * 4 - 3, options));
  REQUIRE_THROWS_AS(make_ring_partition(grid, 4 * 4 * 3, options), std::invalid_argument);
  REQUIRE_THROWS_AS(make_ring_partition(grid, 0, options), std::invalid_argument);
}

TEST_CASE("an order that is not a permutation of the axes is refused by make_ring_partition") {
  RingOptions options = ring(RingStyle::full_loop, {true, true}, int8_blocks(32), 1, 1);
  using Axes = std::vector<std::size_t>;
  for (const Axes& axes : {Axes{0}, Axes{0, 0}, Axes{0, 2}, Axes{0, 1, 2}, Axes{0, 1, 1}}) {
    options.axes = axes;
    REQUIRE_THROWS_WITH(make_ring_partition(RankGrid({3, 3}), kElements, options),
                        ContainsSubstring("each of the 2 axes once"));
  }
}

}  // namespace equarx::ring_partition_test
