#include "models/collectives/partition.hpp"

#include <algorithm>
#include <limits>
#include <random>
#include <vector>

#include "models/formats/block_format.hpp"
#include "tests/catch.hpp"
#include "tests/support/rings.hpp"

namespace equarx::partition_test {

using namespace equarx::collectives;
using namespace equarx::testing;
using equarx::numerics::kRegisterElements;

namespace {

// Up to 2^bits - 1, with small numbers as likely as large ones. In two steps, because the
// evaluation order within an expression is unspecified.
std::uint64_t any_size(std::mt19937_64& random, std::uint64_t bits) {
  const std::uint64_t limit = std::uint64_t{1} << (random() % (bits + 1));
  return random() % limit;
}

// Checks the contract of split() on one range and returns the sizes.
std::vector<std::uint64_t> sizes_of(Range range, std::uint32_t parts) {
  std::vector<std::uint64_t> sizes;
  std::uint64_t reached = range.begin;
  for (std::uint32_t index = 0; index < parts; ++index) {
    const Range part = split(range, parts, index);
    REQUIRE(part.begin == reached);
    REQUIRE(part.end >= part.begin);
    reached = part.end;
    sizes.push_back(part.size());
  }
  REQUIRE(reached == range.end);
  return sizes;
}

void check_split(Range range, std::uint32_t parts) {
  CAPTURE(range.begin, range.end, parts);
  const std::vector<std::uint64_t> sizes = sizes_of(range, parts);
  const auto [least, most] = std::ranges::minmax(sizes);
  const std::uint64_t granule =
      range.size() >= std::uint64_t{parts} * kRegisterElements ? kRegisterElements : 1;
  REQUIRE(most - least <= granule);
  REQUIRE(smallest_part(range, parts) == least);
  for (std::size_t index = 0; index + 1 < sizes.size(); ++index)
    REQUIRE(sizes[index] % granule == 0);
}

}  // namespace

TEST_CASE("parts cover a range once, aligned to registers if it is large enough") {
  std::mt19937_64 random(1);
  for (int trial = 0; trial < 2000; ++trial) {
    const std::uint64_t begin = random() % 10'000;
    const std::uint64_t size = any_size(random, 23);
    check_split({begin, begin + size}, 1 + random() % 40);
  }
}

TEST_CASE("one register per part suffices for aligned cuts, one element less does not") {
  REQUIRE(sizes_of({0, 3 * kRegisterElements}, 3) ==
          std::vector<std::uint64_t>(3, kRegisterElements));
  REQUIRE(sizes_of({0, 3 * kRegisterElements + 1}, 3) ==
          std::vector<std::uint64_t>{kRegisterElements, kRegisterElements, kRegisterElements + 1});
  REQUIRE(sizes_of({0, 3 * kRegisterElements - 1}, 3) ==
          std::vector<std::uint64_t>{kRegisterElements - 1, kRegisterElements, kRegisterElements});
}

TEST_CASE("cuts are relative to the start of the range") {
  const Range part = split({7, 7 + 5 * kRegisterElements}, 2, 1);
  REQUIRE((part.begin - 7) % kRegisterElements == 0);
  REQUIRE(part.end == 7 + 5 * kRegisterElements);
}

TEST_CASE("fewer elements than parts leave some parts empty") {
  REQUIRE(smallest_part({0, 3}, 4) == 0);
  REQUIRE(smallest_part({0, 0}, 1) == 0);
  check_split({5, 8}, 7);
  check_split({5, 5}, 3);
}

TEST_CASE("huge ranges and part counts do not overflow") {
  constexpr std::uint64_t kHuge = (std::uint64_t{1} << 63) + 12'345;
  check_split({0, kHuge}, 1);
  check_split({0, kHuge}, 1009);
  check_split({kHuge / 2, kHuge}, 999);
  constexpr std::uint32_t kMostParts = std::numeric_limits<std::uint32_t>::max();
  const Range last = split({0, kHuge}, kMostParts, kMostParts - 1);
  REQUIRE(last.end == kHuge);
  REQUIRE(last.size() - smallest_part({0, kHuge}, kMostParts) <= kRegisterElements);
  REQUIRE(split({0, kHuge}, kMostParts, kMostParts - 2).end == last.begin);
}

TEST_CASE("segments, minishards and microshards tile the padded tensor once") {
  std::mt19937_64 random(2);
  for (int trial = 0; trial < 500; ++trial) {
    const std::uint64_t elements = 1 + any_size(random, 19);
    const std::uint32_t ranks = 1 + random() % 17;
    const std::uint32_t segments = 1 + random() % 2;
    const std::uint32_t minishards = 1 + random() % 6;
    const std::uint32_t microshards = 1 + random() % 5;
    CAPTURE(elements, ranks, segments, minishards, microshards);
    const std::uint64_t parts = std::uint64_t{ranks} * segments;
    const std::uint64_t segment_elements = (elements + parts - 1) / parts;
    if (segment_elements < std::uint64_t{minishards} * microshards) {
      REQUIRE_THROWS_AS(ring_partition(elements, ranks, segments, minishards, microshards),
                        std::invalid_argument);
      continue;
    }
    const Partition partition = ring_partition(elements, ranks, segments, minishards, microshards);
    REQUIRE(partition.chunk_elements(0) == segment_elements);
    std::uint64_t reached = 0;
    std::uint64_t least = elements;
    for (std::uint32_t segment = 0; segment < segments; ++segment)
      for (std::uint32_t shard = 0; shard < ranks; ++shard)
        for (std::uint32_t minishard = 0; minishard < minishards; ++minishard)
          for (std::uint32_t microshard = 0; microshard < microshards; ++microshard) {
            const Range piece = partition.microshard(
                {.segment = segment, .minishard = minishard, .microshard = microshard});
            const std::uint64_t begin = partition.segment_begin(segment) +
                                        partition.chunk_begin(segment, 0, shard) + piece.begin;
            if (begin != reached) FAIL("a gap or an overlap at element " << reached);
            reached = begin + piece.size();
            least = std::min(least, piece.size());
          }
    REQUIRE(reached >= elements);
    REQUIRE(reached - elements < parts);
    REQUIRE(least >= 1);
  }
}

TEST_CASE("a partition keeps its parameters") {
  const Partition partition = ring_partition(1000, 4, 2, 3, 5);
  REQUIRE(partition.elements() == 1000);
  REQUIRE(partition.grid() == RankGrid({4}));
  REQUIRE(partition.segments() == 2);
  REQUIRE(partition.cut(0).minishards == 3);
  REQUIRE(partition.cut(0).microshards == 5);
}

TEST_CASE("zero parts are refused") {
  const auto matcher = ContainsSubstring("at least 1");
  REQUIRE_THROWS_WITH(ring_partition(0, 1, 1, 1, 1), matcher);
  REQUIRE_THROWS_WITH(ring_partition(1, 1, 0, 1, 1), matcher);
  REQUIRE_THROWS_WITH(ring_partition(1, 1, 1, 0, 1), matcher);
  REQUIRE_THROWS_WITH(ring_partition(1, 1, 1, 1, 0), matcher);
}

TEST_CASE("more microshards than elements are refused, naming both") {
  REQUIRE_NOTHROW(ring_partition(24, 2, 2, 3, 2));
  REQUIRE_THROWS_WITH(
      ring_partition(20, 2, 2, 3, 2),
      ContainsSubstring("3 minishards x 2 microshards") && ContainsSubstring("the 5 elements"));
  REQUIRE_THROWS_AS(ring_partition(1, 1, 1, std::numeric_limits<std::uint32_t>::max(),
                                   std::numeric_limits<std::uint32_t>::max()),
                    std::invalid_argument);
}

TEST_CASE("a tensor shorter than its shards is padded to one element each") {
  const Partition partition = ring_partition(3, 8, 2, 1, 1);
  REQUIRE(partition.chunk_elements(0) == 1);
  REQUIRE(partition.segment_begin(1) + partition.chunk_begin(1, 0, 7) == 15);
}

namespace {

using Lengths = std::vector<std::uint32_t>;
using Axes = std::vector<std::size_t>;

// Marks the elements of one kind of chunk of all ranks, each chunk once.
std::vector<int> covered(const Partition& partition, std::uint32_t segment, std::uint32_t uncut) {
  const RankGrid& grid = partition.grid();
  std::vector<int> marks(partition.segment_elements(segment));
  std::vector<std::uint64_t> begins;
  for (Rank rank = 0; rank < grid.ranks(); ++rank) {
    const std::uint64_t begin = partition.chunk_begin(segment, uncut, rank);
    if (std::ranges::find(begins, begin) != begins.end()) continue;
    begins.push_back(begin);
    for (std::uint32_t mini = 0; mini < partition.cut(segment, uncut).minishards; ++mini)
      for (std::uint32_t micro = 0; micro < partition.cut(segment, uncut).microshards; ++micro) {
        const Tile tile{0, segment, uncut, mini, micro};
        const Range minishard = partition.minishard(tile);
        const Range microshard = partition.microshard(tile);
        REQUIRE(minishard.begin <= microshard.begin);
        REQUIRE(microshard.end <= minishard.end);
        for (std::uint64_t i = microshard.begin; i < microshard.end; ++i) ++marks.at(begin + i);
      }
  }
  return marks;
}

}  // namespace

TEST_CASE("chunks of every size tile their segment, in every order of the axes") {
  const RankGrid grid({2, 3, 4});
  Axes order = {0, 1, 2};
  do {
    CAPTURE(order);
    const Partition partition(10'001, grid,
                              {{order, {{2, 3}, {3, 2}, {1, 4}}, 1}, {order, {{1, 1}}, 1}});
    for (std::uint32_t segment = 0; segment < 2; ++segment)
      for (std::uint32_t uncut = 0; uncut <= 3; ++uncut) {
        CAPTURE(segment, uncut);
        REQUIRE(covered(partition, segment, uncut) ==
                std::vector<int>(partition.segment_elements(segment), 1));
      }
  } while (std::ranges::next_permutation(order).found);
}

TEST_CASE("chunks nest: one axis more selects the rank's part of the previous chunk") {
  const RankGrid grid({2, 3, 4});
  for (const Axes& axes : {Axes{0, 1, 2}, Axes{1, 2, 0}, Axes{2, 0, 1}}) {
    const Partition partition(24'000, grid, {{axes, {{1, 1}}, 1}});
    for (Rank rank = 0; rank < grid.ranks(); ++rank) {
      REQUIRE(partition.chunk_begin(0, 3, rank) == 0);
      for (std::uint32_t uncut = 3; uncut-- > 0;) {
        const std::uint64_t chunk = partition.chunk_elements(0, uncut);
        const std::size_t axis = axes[2 - uncut];
        REQUIRE(partition.chunk_elements(0, uncut + 1) == chunk * grid.length(axis));
        REQUIRE(partition.chunk_begin(0, uncut, rank) ==
                partition.chunk_begin(0, uncut + 1, rank) + grid.coordinate(rank, axis) * chunk);
      }
    }
  }
}

TEST_CASE("segments that cut along some axes only are shared by the ranks along the others") {
  const RankGrid grid({2, 3});
  const Partition partition(600, grid, {{{1}, {{1, 1}}, 1}});
  REQUIRE(partition.chunk_elements(0) == 200);
  for (Rank rank = 0; rank < 6; ++rank)
    REQUIRE(partition.chunk_begin(0, 0, rank) == rank % 3 * 200);
  const Partition whole(600, grid, {{{}, {{1, 1}}, 1}});
  REQUIRE(whole.chunk_elements(0) == 600);
  for (Rank rank = 0; rank < 6; ++rank) REQUIRE(whole.chunk_begin(0, 0, rank) == 0);
}

TEST_CASE("each kind of chunk has its own cut, and the last cut applies to all larger chunks") {
  const Partition partition(24'000, RankGrid({2, 3, 4}), {{{0, 1, 2}, {{5, 2}, {3, 1}}, 1}});
  REQUIRE(partition.cut(0) == Cut{5, 2});
  REQUIRE(partition.cut(0, 1) == Cut{3, 1});
  REQUIRE(partition.cut(0, 2) == Cut{3, 1});
  REQUIRE(partition.cut(0, 3) == Cut{3, 1});
  REQUIRE(partition.minishard({.uncut = 0, .minishard = 4}).end == 1000);
  REQUIRE(partition.minishard({.uncut = 1, .minishard = 2}).end == 4000);
}

TEST_CASE("segments divide the tensor in proportion, padded to whole shards at most") {
  std::mt19937_64 random(4);
  for (int trial = 0; trial < 300; ++trial) {
    const Lengths lengths = {2 + static_cast<std::uint32_t>(random() % 3),
                             2 + static_cast<std::uint32_t>(random() % 4)};
    const RankGrid grid(lengths);
    const std::uint64_t elements = 1 + any_size(random, 18);
    std::vector<Segment> segments;
    std::uint64_t shares = 0;
    for (std::uint64_t i = 0; i <= random() % 4; ++i) {
      segments.push_back({{0, 1}, {{1, 1}}, 1 + static_cast<std::uint32_t>(random() % 5)});
      shares += segments.back().share;
    }
    CAPTURE(lengths, elements, shares);
    const Partition partition(elements, grid, segments);
    std::uint64_t reached = 0;
    for (std::uint32_t segment = 0; segment < partition.segments(); ++segment) {
      REQUIRE(partition.segment_begin(segment) == reached);
      const std::uint64_t size = partition.segment_elements(segment);
      REQUIRE(size % grid.ranks() == 0);
      const double fair =
          static_cast<double>(elements) * segments[segment].share / static_cast<double>(shares);
      REQUIRE(static_cast<double>(size) >= fair * (1.0 - 1e-12));
      REQUIRE(static_cast<double>(size) < fair + grid.ranks());
      reached += size;
    }
    REQUIRE(reached >= elements);
    REQUIRE(reached - elements < partition.segments() * std::uint64_t{grid.ranks()});
  }
}

TEST_CASE("a cut that any kind of chunk cannot fill is refused") {
  const RankGrid grid({2, 2});
  REQUIRE_NOTHROW(Partition(80, grid, {{{0, 1}, {{4, 5}, {8, 5}}, 1}}));
  REQUIRE_THROWS_WITH(
      Partition(80, grid, {{{0, 1}, {{4, 6}, {8, 5}}, 1}}),
      ContainsSubstring("4 minishards x 6 microshards") && ContainsSubstring("the 20 elements"));
  REQUIRE_THROWS_WITH(
      Partition(80, grid, {{{0, 1}, {{4, 5}, {8, 6}}, 1}}),
      ContainsSubstring("8 minishards x 6 microshards") && ContainsSubstring("the 40 elements"));
  REQUIRE_THROWS_WITH(Partition(80, grid, {{{0, 1}, {{4, 5}, {0, 5}}, 1}}),
                      ContainsSubstring("at least 1"));
}

TEST_CASE("a common cut exists only if all chunks are cut alike") {
  const RankGrid grid({2, 2});
  const Cut fine{4, 5};
  REQUIRE(Partition(80, grid, {{{0, 1}, {fine}, 1}}).common_cut() == fine);
  REQUIRE(Partition(160, grid, {{{0, 1}, {fine, fine}, 1}, {{1, 0}, {fine}, 1}}).common_cut() ==
          fine);
  REQUIRE_FALSE(Partition(80, grid, {{{0, 1}, {fine, {8, 5}}, 1}}).common_cut());
  REQUIRE_FALSE(Partition(160, grid, {{{0, 1}, {fine}, 1}, {{1, 0}, {{2, 5}}, 1}}).common_cut());
}

}  // namespace equarx::partition_test
