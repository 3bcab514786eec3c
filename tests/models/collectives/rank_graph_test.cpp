#include "models/collectives/rank_graph.hpp"

#include <stdexcept>

#include "tests/catch.hpp"

namespace equarx::collectives::rank_graph_test {
namespace {

/// Rank 0 with three others, and an edge between two of them.
const RankGraph kKite(4, {{3, 0}, {0, 1}, {2, 0}, {1, 2}});

TEST_CASE("neighbours are those of both directions, in rising order") {
  CHECK(kKite.ranks() == 4);
  CHECK(kKite.neighbors(0) == std::vector<Rank>{1, 2, 3});
  CHECK(kKite.neighbors(2) == std::vector<Rank>{0, 1});
  CHECK(kKite.joins(3, 0));
  CHECK_FALSE(kKite.joins(3, 1));
  CHECK(kKite.messages() == 8);
}

TEST_CASE("Metropolis weights follow the larger degree and add up to 1") {
  CHECK(kKite.weight(0, 3) == 0.25F);
  CHECK(kKite.weight(3, 0) == 0.25F);
  CHECK(kKite.weight(1, 2) == 1.0F / 3.0F);
  CHECK(kKite.own_weight(0) == 0.25F);
  CHECK(kKite.own_weight(3) == 0.75F);
  CHECK(kKite.own_weight(1) == 1.0F - 0.25F - 1.0F / 3.0F);
}

TEST_CASE("edges join two ranks once, and every rank has one") {
  CHECK_THROWS_AS(RankGraph(2, {{0, 2}}), std::invalid_argument);
  CHECK_THROWS_AS(RankGraph(2, {{1, 1}}), std::invalid_argument);
  CHECK_THROWS_AS(RankGraph(2, {{0, 1}, {1, 0}}), std::invalid_argument);
  CHECK_THROWS_AS(RankGraph(3, {{0, 1}}), std::invalid_argument);
}

}  // namespace
}  // namespace equarx::collectives::rank_graph_test
