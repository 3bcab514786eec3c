#include "experiments/plan/kept_by_request.hpp"

#include <memory>

#include "tests/catch.hpp"

namespace equarx::plan::kept_by_request_test {
namespace {

using collectives::ProgramRequest;

ProgramRequest request(std::uint64_t elements) {
  return {.grid = collectives::RankGrid({4}),
          .elements = elements,
          .reduce_scatter = {},
          .all_gather = {},
          .cut = {}};
}

config::Algorithm ring() { return collectives::find_algorithm("ring"); }

TEST_CASE("a value is found by its algorithm and request alone") {
  KeptByRequest<int> kept(100);
  kept.keep(ring(), request(1), std::make_shared<int>(7), 10);
  REQUIRE(kept.find(ring(), request(1)));
  CHECK(*kept.find(ring(), request(1)) == 7);
  CHECK_FALSE(kept.find(ring(), request(2)));
  CHECK_FALSE(kept.find(collectives::find_algorithm("torus"), request(1)));
}

TEST_CASE("the least recently used values are dropped, and too large ones not kept") {
  KeptByRequest<int> kept(20);
  for (std::uint64_t i = 1; i <= 2; ++i)
    kept.keep(ring(), request(i), std::make_shared<int>(1), 10);
  CHECK(kept.find(ring(), request(1)));
  kept.keep(ring(), request(3), std::make_shared<int>(1), 10);
  CHECK(kept.bytes() == 20);
  CHECK(kept.find(ring(), request(1)));
  CHECK_FALSE(kept.find(ring(), request(2)));
  kept.keep(ring(), request(4), std::make_shared<int>(1), 21);
  CHECK_FALSE(kept.find(ring(), request(4)));
}

TEST_CASE("no more values are kept than allowed") {
  KeptByRequest<int> kept(1 << 20);
  const std::uint64_t values = KeptByRequest<int>::kMostValues + 1;
  for (std::uint64_t i = 0; i < values; ++i)
    kept.keep(ring(), request(i), std::make_shared<int>(1), 1);
  CHECK(kept.bytes() == values - 1);
  CHECK_FALSE(kept.find(ring(), request(0)));
  CHECK(kept.find(ring(), request(1)));
}

}  // namespace
}  // namespace equarx::plan::kept_by_request_test
