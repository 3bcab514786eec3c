#include "models/collectives/rank_grid.hpp"

#include <algorithm>
#include <numeric>
#include <set>
#include <stdexcept>
#include <vector>

#include "tests/catch.hpp"

namespace equarx::rank_grid_test {

using namespace equarx::collectives;

namespace {

using Lengths = std::vector<std::uint32_t>;

const std::vector<Lengths> kGrids = {{2},       {7},           {4, 2},    {3, 3},   {2, 2, 2},
                                     {2, 3, 4}, {5, 1 + 1, 3}, {4, 2, 8}, {2, 4, 3}};

template <typename Visit>
void for_each_grid(Visit visit) {
  for (const Lengths& lengths : kGrids) {
    CAPTURE(lengths);
    visit(RankGrid(lengths));
  }
}

}  // namespace

TEST_CASE("ranks are numbered row by row, the last axis fastest") {
  const RankGrid grid({2, 3, 4});
  REQUIRE(grid.ranks() == 24);
  REQUIRE(grid.axes() == 3);
  REQUIRE(grid.lengths() == Lengths{2, 3, 4});
  REQUIRE(grid.length(1) == 3);
  Rank rank = 0;
  for (std::uint32_t x = 0; x < 2; ++x)
    for (std::uint32_t y = 0; y < 3; ++y)
      for (std::uint32_t z = 0; z < 4; ++z, ++rank) {
        REQUIRE(grid.coordinate(rank, 0) == x);
        REQUIRE(grid.coordinate(rank, 1) == y);
        REQUIRE(grid.coordinate(rank, 2) == z);
      }
}

TEST_CASE("a ring wraps around in both directions") {
  const RankGrid ring({4});
  REQUIRE(ring.move(3, ring.along(0, 1)) == 0);
  REQUIRE(ring.move(0, ring.along(0, 3)) == 3);
  REQUIRE(ring.reverse(1) == 3);
  REQUIRE(ring.along(0, 4) == 0);
  REQUIRE(ring.along(0, 7) == 3);
}

TEST_CASE("a move along one axis changes no other coordinate") {
  for_each_grid([](const RankGrid& grid) {
    for (std::size_t axis = 0; axis < grid.axes(); ++axis)
      for (Rank rank = 0; rank < grid.ranks(); ++rank)
        for (std::uint32_t steps = 0; steps < 2 * grid.length(axis); ++steps) {
          const Rank moved = grid.move(rank, grid.along(axis, steps));
          for (std::size_t other = 0; other < grid.axes(); ++other) {
            const std::uint32_t by = other == axis ? steps : 0;
            REQUIRE(grid.coordinate(moved, other) ==
                    (grid.coordinate(rank, other) + by) % grid.length(other));
          }
        }
  });
}

TEST_CASE("offsets form an abelian group that acts simply transitively on ranks") {
  for_each_grid([](const RankGrid& grid) {
    for (Offset a = 0; a < grid.ranks(); ++a) {
      REQUIRE(grid.move(a, 0) == a);
      REQUIRE(grid.move(0, a) == a);
      REQUIRE(grid.move(a, grid.reverse(a)) == 0);
      REQUIRE(grid.reverse(grid.reverse(a)) == a);
      std::set<Rank> reached;
      for (Offset b = 0; b < grid.ranks(); ++b) {
        reached.insert(grid.move(a, b));
        REQUIRE(grid.move(a, b) == grid.move(b, a));
        REQUIRE(grid.move(a, grid.difference(b, a)) == b);
        REQUIRE(grid.difference(a, b) == grid.reverse(grid.difference(b, a)));
        REQUIRE(grid.difference(a, b) == grid.move(a, grid.reverse(b)));
        const Offset c = (a * 7 + b * 3 + 1) % grid.ranks();
        REQUIRE(grid.move(grid.move(a, b), c) == grid.move(a, grid.move(b, c)));
      }
      REQUIRE(reached.size() == grid.ranks());
    }
  });
}

TEST_CASE("offsets along axes of length two are their own inverse") {
  const RankGrid grid({2, 2, 2});
  for (Offset offset = 0; offset < grid.ranks(); ++offset) REQUIRE(grid.reverse(offset) == offset);
}

TEST_CASE("a set of axes spans the ranks that its offsets lead to, in ascending order") {
  for_each_grid([](const RankGrid& grid) {
    REQUIRE(grid.span(0) == 1);
    REQUIRE(grid.offsets(0) == std::vector<Offset>{0});
    REQUIRE(grid.all_axes() == (AxisSet{1} << grid.axes()) - 1);
    std::vector<Offset> all(grid.ranks());
    std::iota(all.begin(), all.end(), Offset{0});
    REQUIRE(grid.offsets(grid.all_axes()) == all);
    for (AxisSet axes = 0; axes <= grid.all_axes(); ++axes) {
      std::vector<Offset> expected;
      for (const Offset offset : all) {
        bool within = true;
        for (std::size_t axis = 0; axis < grid.axes(); ++axis)
          within = within && ((axes >> axis & 1U) != 0 || grid.coordinate(offset, axis) == 0);
        if (within) expected.push_back(offset);
      }
      REQUIRE(grid.offsets(axes) == expected);
      REQUIRE(grid.span(axes) == expected.size());
    }
  });
}

TEST_CASE("a move along an axis of factors wraps around along each of them") {
  const RankGrid grid({12, 4}, {{2, 6}, {}});
  CHECK(grid.axes() == 2);
  CHECK(grid.length(0) == 12);
  CHECK(grid.coordinate(grid.along(0, 7), 0) == 7);
  // Coordinates 5 = (0, 5) and 7 = (1, 1): their sum is (1, 0) = 6.
  CHECK(grid.move(grid.along(0, 5), grid.along(0, 7)) == grid.along(0, 6));
  const RankGrid fine = grid.of_factors();
  CHECK(fine.lengths() == Lengths{2, 6, 4});
  for (Rank a = 0; a < grid.ranks(); ++a)
    for (Rank b = 0; b < grid.ranks(); ++b) {
      REQUIRE(grid.move(a, b) == fine.move(a, b));
      REQUIRE(grid.difference(a, b) == fine.difference(a, b));
    }
  CHECK_FALSE(grid == RankGrid({12, 4}));
  CHECK(RankGrid({12, 4}, {{12}}) == RankGrid({12, 4}));
}

TEST_CASE("factors that do not multiply to the length of an axis are refused") {
  for (const Lengths& factors : {Lengths{5, 2}, Lengths{2, 3}, Lengths{1, 12}, Lengths{24}})
    REQUIRE_THROWS_WITH(RankGrid({12}, {factors}), ContainsSubstring("factors of an axis"));
}

TEST_CASE("the maximum number of axes") {
  // 24 axes of 2 reach kMaxRanks; a 25th exceeds the number of ranks before the number of axes.
  const RankGrid most(Lengths(24, 2));
  REQUIRE(most.ranks() == kMaxRanks);
  REQUIRE(most.all_axes() == (AxisSet{1} << 24) - 1);
  REQUIRE(most.move(kMaxRanks - 1, most.along(0, 1)) == kMaxRanks / 2 - 1);
}

TEST_CASE("grids without ranks, with one rank, or with too many are refused") {
  REQUIRE_THROWS_WITH(RankGrid({}), ContainsSubstring("1 to 32 axes"));
  REQUIRE_THROWS_WITH(RankGrid(Lengths(33, 2)), ContainsSubstring("1 to 32 axes"));
  for (const Lengths& lengths : {Lengths{0}, Lengths{1}, Lengths{4, 1}, Lengths{0, 4}})
    REQUIRE_THROWS_WITH(RankGrid(lengths), ContainsSubstring("at least two chips"));
  REQUIRE_NOTHROW(RankGrid({kMaxRanks}));
  for (const Lengths& lengths : {Lengths{kMaxRanks + 1}, Lengths{kMaxRanks, 2}, Lengths(25, 2),
                                 Lengths{65536, 65536, 65536}})
    REQUIRE_THROWS_WITH(RankGrid(lengths), ContainsSubstring("at most 16777216 ranks"));
}

}  // namespace equarx::rank_grid_test
