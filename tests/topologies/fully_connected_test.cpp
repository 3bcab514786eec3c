#include "topologies/fully_connected.hpp"

#include <stdexcept>

#include "tests/catch.hpp"

namespace equarx::topology::fully_connected_test {
namespace {

TEST_CASE("every chip is linked to every other") {
  for (const std::uint32_t chips : {1U, 2U, 3U, 8U, 33U}) {
    const Topology topology = make_fully_connected(chips);
    CHECK(topology.chip_count() == chips);
    CHECK(topology.link_count() == chips * (chips - 1));
    for (ChipId from = 0; from < chips; ++from) {
      for (ChipId to = 0; to < chips; ++to) {
        CHECK(topology.find_link(from, to).has_value() == (from != to));
      }
    }
  }
  CHECK(make_fully_connected(8).label(7) == "7");
}

TEST_CASE("0 chips and too many chips are rejected") {
  REQUIRE_THROWS_AS(make_fully_connected(0), std::invalid_argument);
  REQUIRE_THROWS_WITH(make_fully_connected(kMaxFullyConnected + 1),
                      "1025 chips cannot be fully connected; use 1 to 1024 chips");
}

}  // namespace
}  // namespace equarx::topology::fully_connected_test
