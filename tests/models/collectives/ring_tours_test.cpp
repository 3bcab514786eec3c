#include "models/collectives/ring_tours.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <utility>
#include <vector>

#include "tests/catch.hpp"
#include "tests/support/rings.hpp"

namespace equarx::ring_tours_test {

using namespace equarx::collectives;
using namespace equarx::testing;

namespace {

using Lengths = std::vector<std::uint32_t>;
using Orders = std::vector<std::vector<std::size_t>>;

constexpr std::uint64_t kLarge = std::uint64_t{1} << 27;  // 256 MiB of bf16

RingOptions plain_ring(RingStyle style = RingStyle::full_loop) {
  RingOptions options = ring(style, {false, false}, {}, 1, 1);
  options.cut = {};
  return options;
}

// Busy time of the links of every axis in one phase, for a tensor that a link direction could move
// in time 1. Each direction of a ring of n moves n - 1 of n parts of its data. On an axis of two,
// and on folded rings, both directions use the same links, which have the rate `folded_rate` there.
std::vector<double> busy(const Lengths& lengths, const std::vector<bool>& folded,
                         const std::vector<RingTour>& tours, double folded_rate = 1.0) {
  double shares = 0.0;
  for (const RingTour& tour : tours) shares += tour.share;
  std::vector<double> time(lengths.size());
  for (const RingTour& tour : tours) {
    double part = tour.share / shares;
    for (const std::size_t axis : tour.axes) {
      const double n = lengths[axis];
      const bool is_folded = !folded.empty() && folded[axis];
      const double links = is_folded ? folded_rate : (n == 2.0 ? 1.0 : 2.0);
      time[axis] += part * (n - 1.0) / n / links;
      part /= n;
    }
  }
  return time;
}

Orders orders_of(const std::vector<RingTour>& tours) {
  Orders orders;
  for (const RingTour& tour : tours) orders.push_back(tour.axes);
  return orders;
}

}  // namespace

TEST_CASE("equal axes are used in every rotation, in equal parts, for any size") {
  for (const RingStyle style : kStyles)
    for (const std::uint64_t elements : {std::uint64_t{1}, kLarge}) {
      const auto tours = ring_tours(RankGrid({4, 4, 4}), elements, plain_ring(style));
      CHECK(orders_of(tours) == Orders{{0, 1, 2}, {1, 2, 0}, {2, 0, 1}});
      for (const RingTour& tour : tours) {
        CHECK(tour.share == 1);
        CHECK(tour.slots == std::vector<std::uint32_t>{0, 1, 2});
      }
    }
  RingOptions folded = plain_ring();
  folded.folded = {true, true};
  for (const RingTour& tour : ring_tours(RankGrid({4, 4}), kLarge, folded)) CHECK(tour.share == 1);
}

TEST_CASE(
    "all links of a torus of unequal sides are busy for the same time, within 1.5 % of the bound") {
  const std::vector<std::pair<Lengths, std::vector<bool>>> tori = {
      {{4, 8}, {}},          {{8, 16}, {}},   {{4, 4, 8}, {}},          {{16, 8, 4}, {}},
      {{3, 5}, {}},          {{4, 2}, {}},    {{4, 4, 2}, {}},          {{2, 2, 4}, {}},
      {{2, 16}, {}},         {{2, 3, 5}, {}}, {{8, 16}, {true, false}}, {{4, 4}, {false, true}},
      {{4, 8}, {true, true}}};
  for (const auto& [lengths, folded] : tori) {
    RingOptions options = plain_ring();
    options.folded = folded;
    const RankGrid grid(lengths);
    const auto tours = ring_tours(grid, kLarge, options);
    double links = 0.0;
    for (std::size_t axis = 0; axis < lengths.size(); ++axis)
      links += lengths[axis] == 2 || (!folded.empty() && folded[axis]) ? 1.0 : 2.0;
    const double bound = (grid.ranks() - 1.0) / grid.ranks() / links;
    CAPTURE(lengths, folded, tours.size());
    for (const double time : busy(lengths, folded, tours)) {
      CHECK(time <= 1.015 * bound);
      CHECK(time >= 0.97 * bound);
    }
  }
}

TEST_CASE("slower folded links get a smaller share") {
  for (const double rate : {0.5, 0.85}) {
    RingOptions options = plain_ring();
    options.folded = {true, false};
    options.folded_rate = rate;
    const RankGrid grid({8, 16});
    const auto tours = ring_tours(grid, kLarge, options);
    const double bound = (grid.ranks() - 1.0) / grid.ranks() / (2.0 + rate);
    CAPTURE(rate, tours.size());
    for (const double time : busy({8, 16}, options.folded, tours, rate)) {
      CHECK(time <= 1.015 * bound);
      CHECK(time >= 0.97 * bound);
    }
  }
}

TEST_CASE("no tour, one stage after the other, takes longer than the bound") {
  // Otherwise it would end after all links are done; large shares are therefore split into several
  // tours.
  for (const Lengths& lengths : {Lengths{4, 8}, {8, 16}, {4, 4, 8}, {3, 5}}) {
    const auto tours = ring_tours(RankGrid(lengths), kLarge, plain_ring());
    double shares = 0.0;
    for (const RingTour& tour : tours) shares += tour.share;
    CAPTURE(lengths);
    CHECK(tours.size() > lengths.size());
    for (const RingTour& tour : tours)
      CHECK(tour.share / shares <= 1.01 / static_cast<double>(lengths.size()));
  }
}

TEST_CASE("every tour uses every axis once, in ascending slots") {
  for (const Lengths& lengths : {Lengths{4, 8}, {4, 4, 8}, {2, 3, 4, 5}, {2, 2, 2, 2, 3}})
    for (const RingStyle style : kStyles)
      for (const std::uint64_t elements : {std::uint64_t{1} << 20, kLarge}) {
        const auto tours = ring_tours(RankGrid(lengths), elements, plain_ring(style));
        CHECK(tours.size() >= lengths.size());
        for (const RingTour& tour : tours) {
          std::vector<std::size_t> axes = tour.axes;
          std::ranges::sort(axes);
          std::vector<std::size_t> all(lengths.size());
          std::iota(all.begin(), all.end(), std::size_t{0});
          CHECK(axes == all);
          CHECK(tour.slots.size() == lengths.size());
          CHECK(std::ranges::adjacent_find(tour.slots, std::greater_equal()) == tour.slots.end());
          CHECK(tour.share > 0);
        }
      }
}

TEST_CASE("small tensors, and cuts too fine for small tours, are divided into equal parts") {
  const auto all_equal = [](const std::vector<RingTour>& tours) {
    return std::ranges::all_of(tours, [](const RingTour& tour) { return tour.share == 1; });
  };
  CHECK(all_equal(ring_tours(RankGrid({4, 8}), 32 * 1000, plain_ring())));
  CHECK_FALSE(all_equal(ring_tours(RankGrid({4, 8}), 32 * 100'000, plain_ring())));
  RingOptions fine = plain_ring();
  fine.cut = {.minishards = 250, .microshards = 64};
  CHECK(all_equal(ring_tours(RankGrid({4, 8}), 32 * 100'000, fine)));
}

TEST_CASE("shares do not split registers or blocks") {
  // 2^20 elements per rank: whole registers. 2^13: whole blocks of 128.
  for (const auto& [of_rank, granule] :
       {std::pair<std::uint64_t, std::uint64_t>{1 << 20, 1024}, {1 << 13, 128}}) {
    RingOptions options = ring(RingStyle::full_loop, {true, true}, int8_blocks(128), 1, 1);
    options.cut = {};
    const RankGrid grid({4, 2});
    const auto tours = ring_tours(grid, of_rank * grid.ranks(), options);
    const std::uint64_t shares =
        std::accumulate(tours.begin(), tours.end(), std::uint64_t{0},
                        [](std::uint64_t sum, const RingTour& tour) { return sum + tour.share; });
    CAPTURE(of_rank, tours.size());
    CHECK(shares * granule * 2 == of_rank);
    CHECK(tours.front().share != tours.back().share);
  }
}

TEST_CASE("a requested order is rotated, not replaced by others") {
  RingOptions options = plain_ring();
  options.axes = {2, 1, 0};
  CHECK(orders_of(ring_tours(RankGrid({4, 4, 8}), kLarge, options)) ==
        Orders{{2, 1, 0}, {1, 0, 2}, {0, 2, 1}});
  options.rotate_axes = false;
  CHECK(orders_of(ring_tours(RankGrid({4, 4, 8}), kLarge, options)) == Orders{{2, 1, 0}});
}

}  // namespace equarx::ring_tours_test
