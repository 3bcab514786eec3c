#include "experiments/input/json_value.hpp"

#include <utility>

#include "experiments/input/json.hpp"
#include "tests/catch.hpp"

namespace equarx::input::json_value_test {
namespace {

TEST_CASE("a box is null at first, and has what it is given") {
  JsonValue value;
  CHECK(value->is_null());
  value = Json{{"a", 1}};
  CHECK((*value)["a"] == 1);
  CHECK(value.get().size() == 1);
}

TEST_CASE("a copy is a value of its own") {
  const JsonValue first(Json{{"a", 1}});
  JsonValue second = first;
  CHECK(second == first);
  (*second)["a"] = 2;
  CHECK_FALSE(second == first);
  CHECK(first == Json{{"a", 1}});
}

TEST_CASE("what was moved from is null, and can be used again") {
  JsonValue first(Json{{"a", 1}});
  const JsonValue second = std::move(first);
  CHECK(second == Json{{"a", 1}});
  CHECK(first->is_null());  // NOLINT(bugprone-use-after-move): this is what it promises
  first = second;
  CHECK(first == second);
}

}  // namespace
}  // namespace equarx::input::json_value_test
