#include "experiments/output/provenance.hpp"

#include "experiments/input/json.hpp"
#include "tests/catch.hpp"

namespace equarx::output {
namespace {

TEST_CASE("texts have the hash of FNV-1a") {
  // Test vectors of http://www.isthe.com/chongo/tech/comp/fnv/, 64 bits.
  CHECK(text_hash("") == "cbf29ce484222325");
  CHECK(text_hash("a") == "af63dc4c8601ec8c");
  CHECK(text_hash("foobar") == "85944171f73967e8");
}

TEST_CASE("a configuration's hash is that of its text, so another value or order gives another") {
  const input::Json config = {{"a", 1}, {"b", "x"}};
  CHECK(config_hash(config) == text_hash(R"({"a":1,"b":"x"})"));
  CHECK(config_hash(config) != config_hash({{"a", 2}, {"b", "x"}}));
  CHECK(config_hash(config) != config_hash({{"b", "x"}, {"a", 1}}));
}

TEST_CASE("the program has a version") {
  REQUIRE_FALSE(version().empty());
  CHECK(version().find_first_of("0123456789") != version().npos);
}

}  // namespace
}  // namespace equarx::output
