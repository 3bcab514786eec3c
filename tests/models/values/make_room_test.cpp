#include "models/values/make_room.hpp"

#include <vector>

#include "tests/catch.hpp"

namespace equarx::values::make_room_test {
namespace {

TEST_CASE("room has no spare capacity, and is kept by smaller units") {
  std::vector<int> elements(1000);
  make_room(elements, 1001);
  CHECK(elements.size() == 1001);
  CHECK(elements.capacity() == 1001);
  make_room(elements, 10);
  CHECK(elements.size() == 10);
  CHECK(elements.capacity() == 1001);
}

TEST_CASE("new room holds the most elements of any unit") {
  std::vector<int> elements(10);
  make_room(elements, 20, 30);
  CHECK(elements.size() == 20);
  CHECK(elements.capacity() == 30);
}

}  // namespace
}  // namespace equarx::values::make_room_test
