#include "base/input/schema.hpp"

#include "base/input/json.hpp"
#include "tests/support/mistakes.hpp"

namespace equarx::input::schema_test {
namespace {

using testing::changed;
using testing::good_config;

TEST_CASE("a violation is located by its JSON pointer, on one line") {
  testing::check_refused(
      [] { check_schema(changed("/tensor/values/seed", "\"x\""), "experiment"); },
      "/tensor/values/seed", "does not match the schema");
  CHECK_THROWS_AS(
      check_schema(changed("/topology", R"({"mesh": "4x4", "wraparound": [true, true]})"),
                   "experiment"),
      InputError);
  testing::check_refused([] { check_schema(changed("/collectives/1/ring", "x"), "experiment"); },
                         "/collectives/1/ring", "does not match the schema");
}

TEST_CASE("an unknown schema is a logic error") {
  CHECK_THROWS_AS(check_schema(good_config(), "none"), std::logic_error);
}

}  // namespace
}  // namespace equarx::input::schema_test
