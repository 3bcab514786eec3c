#include "experiments/input/shelf.hpp"

#include <stdexcept>

#include "tests/catch.hpp"

namespace equarx::input::shelf_test {
namespace {

TEST_CASE("a value is made once, by its name, and stays where it is") {
  Shelf<int> shelf;
  int made = 0;
  const auto fill = [&](int& value) { value = ++made; };
  const int& first = shelf.get("a", fill);
  CHECK(first == 1);
  CHECK(shelf.get("b", fill) == 2);
  CHECK(&shelf.get("a", fill) == &first);
  CHECK(made == 2);
}

TEST_CASE("of a value that cannot be made nothing is kept") {
  Shelf<int> shelf;
  const auto fail = [](int& value) {
    value = 1;
    throw std::runtime_error("no");
  };
  CHECK_THROWS_AS(shelf.get("a", fail), std::runtime_error);
  CHECK(shelf.get("a", [](int& value) { value += 2; }) == 2);
}

}  // namespace
}  // namespace equarx::input::shelf_test
