#include "importers/hlo/module.hpp"

#include "tests/catch.hpp"
#include "tests/importers/hlo/modules.hpp"

namespace equarx::hlo::module_test {
namespace {

TEST_CASE("JSON values are found by key") {
  const std::string json = R"({"a":{"n":"32","list":["1","2"]}, "is_sync":true,"x": 5})";
  CHECK(json_value(json, "n") == "32");
  CHECK(json_value(json, "list") == R"(["1","2"])");
  CHECK(json_value(json, "a") == R"({"n":"32","list":["1","2"]})");
  CHECK(json_value(json, "is_sync") == "true");
  CHECK(json_value(json, "x") == "5");
  CHECK_FALSE(json_value(json, "y"));
  CHECK_FALSE(json_value("\"y\"", "y"));
}

TEST_CASE("numbers are parsed in order and saturate") {
  CHECK(numbers_in("{{0,1},{12}}") == std::vector<std::int64_t>{0, 1, 12});
  CHECK(numbers_in("no").empty());
  CHECK(numbers_in("99999999999999999999999") == std::vector<std::int64_t>{std::int64_t{1} << 62});
}

TEST_CASE("undefined operands and computations are absent") {
  const Module module = testing::hlo_module(
      "  %p = f32[8] parameter(0)\n  %r = f32[8] reduce(%p, %gone), to_apply=%add\n");
  const Instruction& reduce = testing::instruction_of(module, "r");
  const Computation& entry = testing::entry_of(module);
  CHECK(operand_of(reduce, 0, entry) == &entry.instructions[0]);
  CHECK(operand_of(reduce, 1, entry) == nullptr);
  CHECK(operand_of(reduce, 2, entry) == nullptr);
  CHECK(module.computations[called_by(reduce, "to_apply", module).value()].name == "add");
  CHECK_FALSE(called_by(reduce, "body", module));
}

TEST_CASE("a missing attribute is empty") {
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
}  // namespace equarx::hlo::module_test
