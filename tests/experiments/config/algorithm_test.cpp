#include "experiments/config/algorithm.hpp"

#include <algorithm>

#include "tests/catch.hpp"

namespace equarx::config::algorithm_test {
namespace {

using collectives::Collective;

TEST_CASE("algorithms have names, and auto is not an algorithm") {
  CHECK(algorithm_name(collectives::find_algorithm("halving-doubling")) == "halving-doubling");
  CHECK(algorithm_name(kAutomatic) == "auto");
  CHECK(collectives::find_algorithm("auto") == nullptr);
}

TEST_CASE("exactly the algorithms of a collective implement it") {
  for (const Collective collective :
       {Collective::all_reduce, Collective::reduce_scatter, Collective::all_gather,
        Collective::all_to_all, Collective::broadcast, Collective::neighbor_average}) {
    const std::vector<Algorithm> algorithms = algorithms_of(collective);
    CHECK_FALSE(algorithms.empty());
    for (const collectives::AlgorithmInfo& algorithm : collectives::algorithms()) {
      CAPTURE(algorithm.name);
      CHECK((std::ranges::find(algorithms, &algorithm) != algorithms.end()) ==
            algorithm.does(collective));
    }
  }
}

TEST_CASE("published implementations run by name, but auto does not try them") {
  for (const std::string_view name : {"quickreduce", "binomial-tree", "server"}) {
    const Algorithm published = collectives::find_algorithm(name);
    REQUIRE(published != nullptr);
    const auto has = [&](const std::vector<Algorithm>& algorithms) {
      return std::ranges::find(algorithms, published) != algorithms.end();
    };
    CHECK(has(algorithms_of(Collective::all_reduce)));
    CHECK_FALSE(has(tried_algorithms(Collective::all_reduce)));
  }
  CHECK(tried_algorithms(Collective::all_gather) == algorithms_of(Collective::all_gather));
}

TEST_CASE("auto can do whatever any algorithm can") {
  CHECK(has_ring_style(kAutomatic));
  CHECK(has_two_phases(kAutomatic));
  CHECK(can_be_plain(kAutomatic));
  CHECK(can_be_quantized(kAutomatic));
}

TEST_CASE("EQuARX is quantized, the ring is not, and one shot has one phase") {
  CHECK_FALSE(can_be_plain(collectives::find_algorithm("equarx")));
  CHECK_FALSE(can_be_quantized(collectives::find_algorithm("ring")));
  CHECK_FALSE(has_two_phases(collectives::find_algorithm("one-shot")));
  CHECK_FALSE(has_ring_style(collectives::find_algorithm("two-shot")));
}

}  // namespace
}  // namespace equarx::config::algorithm_test
