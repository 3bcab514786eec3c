#include "experiments/config/differences.hpp"

#include "base/input/json.hpp"
#include "tests/catch.hpp"

namespace equarx::config::differences_test {
namespace {

input::Json parsed(const char* text) { return input::Json::parse(text); }

std::vector<std::string> pointers(const input::Json& a, const input::Json& b) {
  std::vector<std::string> found;
  for (const Difference& difference : differences(a, b)) found.push_back(difference.pointer);
  return found;
}

TEST_CASE("differences have both values, null if absent") {
  const std::vector<Difference> found =
      differences(parsed(R"({"hardware": "a", "tensor": {"shape": [4, 5]}, "old": true})"),
                  parsed(R"({"tensor": {"shape": [4, 6]}, "hardware": "a", "faults": {"n": 2}})"));
  REQUIRE(found.size() == 3);
  CHECK(found[0].pointer == "/tensor/shape/1");
  CHECK(found[0].a == input::Json(5));
  CHECK(found[0].b == input::Json(6));
  CHECK(found[1].pointer == "/old");
  CHECK(found[1].b->is_null());
  CHECK(found[2].pointer == "/faults/n");
  CHECK(found[2].a->is_null());
}

TEST_CASE("collectives are addressed by label, in any order") {
  const input::Json a = parsed(
      R"({"collectives": [{"label": "p", "format": "bf16"}, {"label": "a/b", "format": "int8"}]})");
  const input::Json b = parsed(
      R"({"collectives": [{"label": "a/b", "format": "int4"}, {"label": "p", "format": "bf16"}]})");
  CHECK(pointers(a, b) == std::vector<std::string>{"/collectives/a~1b/format"});
  CHECK(pointers(a, a).empty());
}

TEST_CASE("collectives without unique labels are addressed by index") {
  const input::Json a =
      parsed(R"({"collectives": [{"label": "p", "n": 1}, {"label": "p", "n": 2}]})");
  const input::Json b =
      parsed(R"({"collectives": [{"label": "p", "n": 1}, {"label": "p", "n": 3}]})");
  CHECK(pointers(a, b) == std::vector<std::string>{"/collectives/1/n"});
  CHECK(pointers(parsed(R"({"collectives": [1]})"), parsed(R"({"collectives": [2]})")) ==
        std::vector<std::string>{"/collectives/0"});
  CHECK(pointers(parsed("[1]"), parsed("3")) == std::vector<std::string>{"/0", ""});
}

}  // namespace
}  // namespace equarx::config::differences_test
