#include "models/collectives/partition.hpp"

#include <algorithm>
#include <limits>
#include <random>
#include <vector>

#include "models/numerics/block_format.hpp"
#include "tests/catch.hpp"
#include "tests/models/collectives/rings.hpp"

using namespace equarx::collectives;
using equarx::numerics::kRegisterElements;

namespace {

// Up to 2^bits - 1, with small numbers as likely as large ones. In two steps, because the order of
// calls within an expression is the compiler's choice.
std::uint64_t any_size(std::mt19937_64& random, std::uint64_t bits) {
  const std::uint64_t limit = std::uint64_t{1} << (random() % (bits + 1));
  return random() % limit;
}

// Checks what split() promises of one range, and returns the sizes.
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

TEST_CASE("parts cover a range once, cut on registers where there are enough") {
  std::mt19937_64 random(1);
  for (int trial = 0; trial < 2000; ++trial) {
    const std::uint64_t begin = random() % 10'000;
    const std::uint64_t size = any_size(random, 23);
    check_split({begin, begin + size}, 1 + random() % 40);
  }
}

TEST_CASE("one register for each part is enough to cut on registers, one element less is not") {
  REQUIRE(sizes_of({0, 3 * kRegisterElements}, 3) ==
          std::vector<std::uint64_t>(3, kRegisterElements));
  REQUIRE(sizes_of({0, 3 * kRegisterElements + 1}, 3) ==
          std::vector<std::uint64_t>{kRegisterElements, kRegisterElements, kRegisterElements + 1});
  REQUIRE(sizes_of({0, 3 * kRegisterElements - 1}, 3) ==
          std::vector<std::uint64_t>{kRegisterElements - 1, kRegisterElements, kRegisterElements});
}

TEST_CASE("cuts count from the start of the range, wherever it lies") {
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

TEST_CASE("a partition keeps what it was made from") {
  const Partition partition = ring_partition(1000, 4, 2, 3, 5);
  REQUIRE(partition.elements() == 1000);
  REQUIRE(partition.grid() == RankGrid({4}));
  REQUIRE(partition.segments() == 2);
  REQUIRE(partition.cut(0).minishards == 3);
  REQUIRE(partition.cut(0).microshards == 5);
}

TEST_CASE("nothing can be cut in no parts") {
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
