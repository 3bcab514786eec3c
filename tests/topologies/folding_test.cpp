#include "topologies/folding.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <stdexcept>

#include "tests/catch.hpp"

namespace equarx::topology::folding_test {
namespace {

/// Number of times one trip round the ring crosses each link (from, to) of neighbouring positions.
std::map<std::pair<std::uint32_t, std::uint32_t>, int> crossings(
    const std::vector<std::uint32_t>& positions) {
  std::map<std::pair<std::uint32_t, std::uint32_t>, int> count;
  for (std::size_t place = 0; place < positions.size(); ++place) {
    std::uint32_t at = positions[place];
    const std::uint32_t to = positions[(place + 1) % positions.size()];
    while (at != to) {
      const std::uint32_t next = at < to ? at + 1 : at - 1;
      ++count[{at, next}];
      at = next;
    }
  }
  return count;
}

TEST_CASE("a folded axis is a ring of dilation 2 that loads every link direction once") {
  for (std::uint32_t length = 1; length <= 40; ++length) {
    CAPTURE(length);
    std::vector<std::uint32_t> positions = folded_axis(length);
    CHECK(positions.front() == 0);
    CHECK(std::set(positions.begin(), positions.end()).size() == length);
    CHECK(*std::ranges::max_element(positions) == length - 1);
    for (std::size_t place = 0; place < length; ++place) {
      const std::uint32_t here = positions[place];
      const std::uint32_t next = positions[(place + 1) % length];
      CHECK(std::max(here, next) - std::min(here, next) <= 2);
    }
    const auto forward = crossings(positions);
    std::ranges::reverse(positions);
    for (const auto& count : {forward, crossings(positions)}) {
      CHECK(count.size() == 2 * (length - 1));
      CHECK(std::ranges::all_of(count, [](const auto& link) { return link.second == 1; }));
    }
  }
}

TEST_CASE("short folded axes") {
  CHECK(folded_axis(1) == std::vector<std::uint32_t>{0});
  CHECK(folded_axis(2) == std::vector<std::uint32_t>{0, 1});
  CHECK(folded_axis(5) == std::vector<std::uint32_t>{0, 2, 4, 3, 1});
  CHECK(folded_axis(6) == std::vector<std::uint32_t>{0, 2, 4, 5, 3, 1});
  REQUIRE_THROWS_AS(folded_axis(0), std::invalid_argument);
}

}  // namespace
}  // namespace equarx::topology::folding_test
