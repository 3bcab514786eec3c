#include "base/input/json_value.hpp"

#include <utility>

#include "base/input/json.hpp"
#include "tests/catch.hpp"

namespace equarx::input::json_value_test {
namespace {

TEST_CASE("a JSON value is initially null and holds the assigned value") {
  JsonValue value;
  CHECK(value->is_null());
  value = Json{{"a", 1}};
  CHECK((*value)["a"] == 1);
  CHECK(value.get().size() == 1);
}

TEST_CASE("copies are independent") {
  const JsonValue first(Json{{"a", 1}});
  JsonValue second = first;
  CHECK(second == first);
  (*second)["a"] = 2;
  CHECK_FALSE(second == first);
  CHECK(first == Json{{"a", 1}});
}

TEST_CASE("a moved-from value is null and reusable") {
  JsonValue first(Json{{"a", 1}});
  const JsonValue second = std::move(first);
  CHECK(second == Json{{"a", 1}});
  CHECK(first->is_null());  // NOLINT(bugprone-use-after-move): part of the contract
  first = second;
  CHECK(first == second);
}

}  // namespace
}  // namespace equarx::input::json_value_test
