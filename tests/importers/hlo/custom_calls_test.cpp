#include "importers/hlo/custom_calls.hpp"

#include "importers/hlo/cost.hpp"
#include "tests/catch.hpp"
#include "tests/importers/hlo/modules.hpp"

namespace equarx::hlo::custom_calls_test {
namespace {

Module module_of(const std::string& name) {
  return testing::hlo_module(
      "  %p = f32[100] parameter(0)\n  %" + name +
      " = f32[100] custom-call(%p), custom_call_target=\"tpu_custom_call\"\n");
}

TEST_CASE("work of a custom-call is given by target, name, or name without its number") {
  const Module module = module_of("kernel.3");
  const Instruction& call = testing::instruction_of(module, "kernel.3");
  for (const char* name : {"kernel.3", "kernel", "tpu_custom_call"}) {
    const CustomCalls calls = {{name, {.flops = 7.0, .bytes = {}}}};
    REQUIRE(given_for(call, calls) != nullptr);
    CHECK_NOTHROW(check_names(calls, module));
  }
  CHECK(given_for(call, {{"other", {}}}) == nullptr);
  CHECK(given_for(testing::instruction_of(module, "p"), {{"p", {}}}) == nullptr);
  // The name of an instruction counts before its target.
  const CustomCalls both = {{"kernel.3", {.flops = 1.0, .bytes = {}}},
                            {"tpu_custom_call", {.flops = 2.0, .bytes = {}}}};
  CHECK(given_for(call, both)->flops == 1.0);
}

TEST_CASE("given work replaces the cost model's") {
  const Module module = module_of("kernel");
  Skipped notes;
  const CustomCalls calls = {{"kernel", {.flops = 5e9, .bytes = 123.0}}};
  const Cost cost =
      CostModel(module, calls)
          .of(testing::instruction_of(module, "kernel"), testing::entry_of(module), notes);
  CHECK(cost.flops == 5e9);
  CHECK(cost.matrix_flops == 5e9);
  CHECK(cost.hbm_bytes == 123.0);
  CHECK(notes.empty());
  const CustomCalls without = {{"kernel", {.flops = 5e9, .bytes = {}}}};
  CHECK(CostModel(module, without)
            .of(testing::instruction_of(module, "kernel"), testing::entry_of(module), notes)
            .hbm_bytes == 800.0);
}

TEST_CASE("names that no custom-call has are refused with those that are there") {
  CHECK_THROWS_WITH(check_names({{"gone", {}}}, module_of("kernel")),
                    ContainsSubstring("--custom-call") &&
                        ContainsSubstring("no custom-call 'gone'") &&
                        ContainsSubstring("tpu_custom_call"));
  CHECK_THROWS_WITH(
      check_names({{"gone", {}}}, testing::hlo_module("  %p = f32[100] parameter(0)\n")),
      ContainsSubstring("has no custom-calls"));
}

}  // namespace
}  // namespace equarx::hlo::custom_calls_test
