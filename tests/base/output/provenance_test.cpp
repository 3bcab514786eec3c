#include "base/output/provenance.hpp"

#include "base/input/json.hpp"
#include "base/output/hash.hpp"
#include "tests/catch.hpp"

namespace equarx::output::provenance_test {
namespace {

TEST_CASE("a configuration's hash depends on values and order") {
  const input::Json config = {{"a", 1}, {"b", "x"}};
  CHECK(config_hash(config) == text_hash(R"({"a":1,"b":"x"})"));
  CHECK(config_hash(config) != config_hash({{"a", 2}, {"b", "x"}}));
  CHECK(config_hash(config) != config_hash({{"b", "x"}, {"a", 1}}));
}

}  // namespace
}  // namespace equarx::output::provenance_test
