#include "base/input/once_map.hpp"

#include <stdexcept>

#include "tests/catch.hpp"

namespace equarx::input::once_map_test {
namespace {

TEST_CASE("a value is created once per name and keeps its address") {
  OnceMap<int> map;
  int made = 0;
  const auto fill = [&](int& value) { value = ++made; };
  const int& first = map.get("a", fill);
  CHECK(first == 1);
  CHECK(map.get("b", fill) == 2);
  CHECK(&map.get("a", fill) == &first);
  CHECK(made == 2);
}

TEST_CASE("nothing is stored if the creation fails") {
  OnceMap<int> map;
  const auto fail = [](int& value) {
    value = 1;
    throw std::runtime_error("no");
  };
  CHECK_THROWS_AS(map.get("a", fail), std::runtime_error);
  CHECK(map.get("a", [](int& value) { value += 2; }) == 2);
}

}  // namespace
}  // namespace equarx::input::once_map_test
