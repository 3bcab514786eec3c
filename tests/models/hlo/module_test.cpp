#include "models/hlo/module.hpp"

#include "tests/catch.hpp"

namespace equarx::hlo {
namespace {

TEST_CASE("values of JSON are found by their key") {
  const std::string json = R"({"a":{"n":"32","list":["1","2"]}, "is_sync":true,"x": 5})";
  CHECK(json_value(json, "n") == "32");
  CHECK(json_value(json, "list") == R"(["1","2"])");
  CHECK(json_value(json, "a") == R"({"n":"32","list":["1","2"]})");
  CHECK(json_value(json, "is_sync") == "true");
  CHECK(json_value(json, "x") == "5");
  CHECK_FALSE(json_value(json, "y"));
  CHECK_FALSE(json_value("\"y\"", "y"));
}

TEST_CASE("numbers are read one by one, and none is too large") {
  CHECK(numbers_in("{{0,1},{12}}") == std::vector<std::int64_t>{0, 1, 12});
  CHECK(numbers_in("no").empty());
  CHECK(numbers_in("99999999999999999999999") == std::vector<std::int64_t>{std::int64_t{1} << 62});
}

TEST_CASE("an attribute that is not there is empty") {
  const Instruction instruction{.name = "a",
                                .shape = {},
                                .opcode = "add",
                                .operands = {},
                                .payload = {},
                                .attributes = {{"index", "1"}},
                                .called = {}};
  CHECK(instruction.attribute("index") == "1");
  CHECK(instruction.attribute("channel_id").empty());
}

}  // namespace
}  // namespace equarx::hlo
