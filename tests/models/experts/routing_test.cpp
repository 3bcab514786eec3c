#include "models/experts/routing.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <set>
#include <stdexcept>

#include "tests/catch.hpp"

namespace equarx::experts::routing_test {
namespace {

double sum(const std::vector<std::uint32_t>& rows) {
  return std::accumulate(rows.begin(), rows.end(), 0.0);
}

TEST_CASE("routing: every token chooses distinct experts, the same for the same seed") {
  const Routing routing{.tokens = 200, .experts = 16, .top_k = 5, .skew = 1.0, .seed = 3};
  const std::vector<std::uint32_t> experts = draw_experts(routing, 2);
  REQUIRE(experts.size() == 1000);
  for (std::size_t token = 0; token < 200; ++token) {
    const std::set<std::uint32_t> of_token(experts.begin() + token * 5,
                                           experts.begin() + (token + 1) * 5);
    REQUIRE(of_token.size() == 5);
    REQUIRE(*of_token.rbegin() < 16);
  }
  CHECK(draw_experts(routing, 2) == experts);
  CHECK(draw_experts(routing, 3) != experts);
}

TEST_CASE("routing: popularity follows Zipf's law") {
  constexpr std::uint32_t kTokens = 100'000;
  const Routing routing{.tokens = kTokens, .experts = 4, .top_k = 1, .skew = 1.0};
  std::vector<double> share(4);
  for (const std::uint32_t expert : draw_experts(routing, 0)) share[expert] += 1.0 / kTokens;
  std::ranges::sort(share, std::greater());
  const double all = 1.0 + 1.0 / 2 + 1.0 / 3 + 1.0 / 4;
  for (std::size_t i = 0; i < share.size(); ++i)
    CHECK(share[i] == Approx(1.0 / static_cast<double>(i + 1) / all).epsilon(0.02));
}

TEST_CASE("routing: rows are conserved, and without skew balanced") {
  constexpr std::uint32_t kRanks = 8;
  const Routing routing{.tokens = 4096, .experts = 64, .top_k = 6};
  const RoutedRows routed = routed_rows(routing, kRanks);
  CHECK(sum(routed.rows) == 4096.0 * 6 * kRanks);
  for (const std::uint32_t rows : routed.rows)
    CHECK(static_cast<double>(rows) == Approx(4096.0 * 6 / kRanks).epsilon(0.1));
  CHECK(routed.imbalance < 1.02);
  CHECK(routed.dropped == 0.0);
}

TEST_CASE("routing: a row for each rank is sent once") {
  constexpr std::uint32_t kRanks = 4;
  Routing routing{.tokens = 20'000, .experts = 16, .top_k = 3, .rows_per = RowsPer::rank};
  const RoutedRows routed = routed_rows(routing, kRanks);
  // A rank has none of the experts with probability C(12, 3) / C(16, 3).
  const double hit = 1.0 - 12.0 * 11 * 10 / (16.0 * 15 * 14);
  CHECK(sum(routed.rows) == Approx(20'000.0 * kRanks * kRanks * hit).epsilon(0.01));
  routing.experts = kRanks;  // one expert per rank: no token has two of a rank
  CHECK(sum(routed_rows(routing, kRanks).rows) == 20'000.0 * kRanks * 3);
}

TEST_CASE("routing: a combine returns the rows of the dispatch") {
  constexpr std::uint32_t kRanks = 4;
  Routing routing{.tokens = 100, .experts = 8, .top_k = 2, .skew = 2.0};
  const RoutedRows there = routed_rows(routing, kRanks);
  routing.direction = Direction::combine;
  const RoutedRows back = routed_rows(routing, kRanks);
  for (std::uint32_t from = 0; from < kRanks; ++from)
    for (std::uint32_t to = 0; to < kRanks; ++to)
      REQUIRE(there.rows[from * kRanks + to] == back.rows[to * kRanks + from]);
  CHECK(there.imbalance > 1.5);
  CHECK(there.imbalance == back.imbalance);
}

TEST_CASE("routing: rows beyond the capacity are dropped") {
  Routing routing{.tokens = 64, .experts = 8, .top_k = 2, .skew = 1.5, .capacity_factor = 1.0};
  REQUIRE(capacity(routing) == 16);
  std::vector<std::uint32_t> used(8);
  for (const std::uint32_t expert : draw_experts(routing, 1))
    if (expert != kDropped) ++used[expert];
  for (const std::uint32_t rows : used) CHECK(rows <= 16);
  const RoutedRows routed = routed_rows(routing, 4);
  CHECK(routed.dropped > 0.1);
  CHECK(sum(routed.rows) == Approx(64.0 * 2 * 4 * (1.0 - routed.dropped)).epsilon(1e-12));
  routing.capacity_factor = 8.0;
  CHECK(routed_rows(routing, 4).dropped == 0.0);
}

TEST_CASE("routing: impossible numbers are refused") {
  CHECK_THROWS_AS(routed_rows({.tokens = 4, .experts = 6, .top_k = 1}, 4), std::invalid_argument);
  CHECK_THROWS_AS(routed_rows({.tokens = 4, .experts = 4, .top_k = 5}, 4), std::invalid_argument);
  CHECK_THROWS_AS(routed_rows({.tokens = 4, .experts = 4, .top_k = 0}, 4), std::invalid_argument);
  CHECK_THROWS_AS(routed_rows({.tokens = 0, .experts = 4, .top_k = 1}, 4), std::invalid_argument);
}

}  // namespace
}  // namespace equarx::experts::routing_test
