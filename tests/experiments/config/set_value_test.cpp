#include "experiments/config/set_value.hpp"

#include "base/input/json.hpp"
#include "tests/support/sweeps.hpp"

namespace equarx::config::set_value_test {
namespace {

using namespace testing;

input::Json with(const std::string& pointer, const input::Json& value) {
  input::Json config = good_config();
  set_value(config, pointer, value);
  return config;
}

void check_refused_at(const std::string& pointer, const std::string& remedy) {
  input::Json config = good_config();
  try {
    set_value(config, pointer, 1);
    FAIL("no InputError was thrown for " << pointer);
  } catch (const input::InputError& error) {
    CHECK_THAT(error.what(), ContainsSubstring(remedy));
  }
}

TEST_CASE("a value is set whether or not its key is present") {
  CHECK(with("/tensor/dtype", "fp32").at("tensor").at("dtype") == "fp32");
  CHECK(with("/tensor/sample", 0.5).at("tensor").at("sample") == 0.5);
  CHECK(with("/faults/links", input::Json::array()).at("faults").at("links").empty());
}

TEST_CASE("an element is addressed by index or label") {
  CHECK(with("/collectives/1/minishards", 4) == with("/collectives/int8/minishards", 4));
  CHECK(with("/collectives/1/minishards", 4).at("collectives")[1].at("minishards") == 4);
  CHECK(with("/collectives/0", input::Json::object()).at("collectives")[0].empty());
}

TEST_CASE("labels may need escapes") {
  input::Json config = with("/collectives/1/label", "a/b");
  set_value(config, "/collectives/a~1b/minishards", 8);
  CHECK(config.at("collectives")[1].at("minishards") == 8);
}

TEST_CASE("setting an alternative removes the others") {
  CHECK_FALSE(with("/tensor/bytes", "1 MiB").at("tensor").contains("shape"));
  CHECK(with("/topology/torus", "4x4").at("topology") == input::Json{{"torus", "4x4"}});
}

TEST_CASE("a key or an element is removed") {
  input::Json config = good_config();
  unset_value(config, "/baseline");
  unset_value(config, "/collectives/int8/minishards");
  CHECK_FALSE(config.contains("baseline"));
  CHECK_FALSE(config["collectives"][1].contains("minishards"));
  unset_value(config, "/collectives/bf16");
  REQUIRE(config["collectives"].size() == 1);
  CHECK(config["collectives"][0]["label"] == "int8");
  unset_value(config, "/collectives/0");
  CHECK(config["collectives"].empty());
}

TEST_CASE("keys that are not set cannot be removed") {
  const auto refused = [](const std::string& pointer, const std::string& remedy) {
    input::Json config = good_config();
    check_refused([&] { unset_value(config, pointer); }, pointer, remedy);
    CHECK(config == good_config());
  };
  refused("/baselin", "is not set; did you mean 'baseline'? (one of hardware, topology, ");
  refused("/workload/model", "is not set; use one of hardware, ");
  refused("/tensor/values/sed", "is not set; did you mean 'seed'? (one of distribution, seed, ");
  refused("/hardware/link_bandwidth", "leads into a string, which has no keys");
  refused("/collectives/int9", "no element 'int9'");
  refused("baseline", "is not a JSON pointer");
  input::Json config = good_config();
  CHECK_THAT(message_of([&] { unset_value(config, ""); }),
             ContainsSubstring("expected the JSON pointer of a key"));
}

TEST_CASE("unresolvable pointers are refused") {
  check_refused_at("tensor/bytes", "is not a JSON pointer");
  check_refused_at("/tensor/~2", "is not a JSON pointer");
  check_refused_at("", "expected the JSON pointer of a key");
  check_refused_at("/collectives/7/format",
                   "no element '7'; the array has 2, labelled \"bf16\", \"int8\"");
  check_refused_at("/collectives/int9/format", "no element 'int9'");
  check_refused_at("/collectives/01/format", "no element '01'");
  check_refused_at("/collectives/99999999999999999999/format", "no element '9999");
  check_refused_at("/collectives/-", "no element '-'");
  check_refused_at("/tensor/shape/x", "without labels");
  check_refused_at("/baseline/name", "leads into a string");
  check_refused_at("/baseline/name/x", "leads into a string");
}

}  // namespace
}  // namespace equarx::config::set_value_test
