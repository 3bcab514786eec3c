#include "importers/hlo/audit_values.hpp"

#include "tests/catch.hpp"
#include "tests/importers/hlo/modules.hpp"

namespace equarx::hlo::audit_values_test {
namespace {

/// Result of the instruction of the entry with this name.
Value value_of(const Module& module, const std::string& name) {
  const std::vector<Instruction>& entry = module.computations[module.entry].instructions;
  for (InstructionId id = 0; id < entry.size(); ++id)
    if (entry[id].name == name) return {module.entry, id};
  throw std::logic_error("no instruction " + name);
}

TEST_CASE("a type holds another if it has all its values") {
  for (const auto& [narrow, wide] :
       std::vector<std::pair<const char*, const char*>>{{"bf16", "f32"},
                                                        {"f16", "f32"},
                                                        {"f8e4m3fn", "bf16"},
                                                        {"f8e5m2", "f16"},
                                                        {"f4e2m1fn", "f8e4m3fn"},
                                                        {"s8", "bf16"},
                                                        {"s8", "s16"},
                                                        {"u8", "s16"},
                                                        {"f32", "f32"}})
    CHECK(holds(narrow, wide));
  for (const auto& [narrow, wide] :
       std::vector<std::pair<const char*, const char*>>{{"f32", "bf16"},
                                                        {"bf16", "f16"},
                                                        {"f16", "bf16"},
                                                        {"s32", "f32"},
                                                        {"f32", "s32"},
                                                        {"s8", "u8"},
                                                        {"c64", "f32"},
                                                        {"token", "f32"},
                                                        {"f8", "f32"},
                                                        {"s8", "u16"}})
    CHECK_FALSE(holds(narrow, wide));
}

TEST_CASE("sources are found through tuples, copies and fusions") {
  const Module module = testing::hlo_module(
      "  %p = f32[4,2] parameter(0)\n  %q = f32[8] parameter(1)\n"
      "  %t = (f32[4,2], f32[8]) tuple(%p, %q)\n"
      "  %f = (f32[8], f32[8]) fusion(%t), kind=kLoop, calls=%swap\n"
      "  %g = f32[8] get-tuple-element(%f), index=1\n  %c = f32[8] copy(%g)\n"
      "  ROOT %n = f32[8] negate(%c)\n",
      "%swap (x: (f32[4,2], f32[8])) -> (f32[8], f32[8]) {\n"
      "  %x = (f32[4,2], f32[8]) parameter(0)\n  %a = f32[4,2] get-tuple-element(%x), index=0\n"
      "  %b = f32[8] get-tuple-element(%x), index=1\n  %r = f32[8] reshape(%a)\n"
      "  ROOT %y = (f32[8], f32[8]) tuple(%b, %r)\n}\n");
  const Values values(module);
  CHECK(values.source(value_of(module, "c")) == value_of(module, "p"));
  CHECK(values.source(value_of(module, "n")) == value_of(module, "n"));
  CHECK_FALSE(values.before(value_of(module, "p")));
  const Uses uses = values.uses(value_of(module, "p"));
  CHECK(uses.users == std::vector<Value>{value_of(module, "n")});
  CHECK_FALSE(uses.escapes);
  CHECK(values.uses(value_of(module, "n")).escapes);
}

TEST_CASE("the narrowest type stops at a rounding") {
  const Module module = testing::hlo_module(
      "  %p = f32[8] parameter(0)\n  %b = bf16[8] convert(%p)\n  %w = f32[8] convert(%b)\n"
      "  ROOT %c = f32[8] copy(%w)\n");
  const Values values(module);
  CHECK(values.narrowest_type(value_of(module, "c")) == "bf16");
  CHECK(values.narrowest_type(value_of(module, "p")) == "f32");
  CHECK(values.uncast(value_of(module, "c")) == value_of(module, "p"));
}

TEST_CASE("elements that a loop does not change are traced to its operands") {
  const std::string tuple = "(s32[], f32[8])";
  const auto module_with = [&](const std::string& next) {
    return testing::hlo_module(
        "  %p = f32[8] parameter(0)\n  %k = s32[] constant(0)\n  %t = " + tuple +
            " tuple(%k, %p)\n  %w = " + tuple +
            " while(%t), condition=%cond, body=%body, "
            "backend_config={\"known_trip_count\":{\"n\":\"2\"}}\n"
            "  ROOT %r = f32[8] get-tuple-element(%w), index=1\n",
        "%body (x: " + tuple + ") -> " + tuple + " {\n  %x = " + tuple +
            " parameter(0)\n  %i = s32[] get-tuple-element(%x), index=0\n"
            "  %v = f32[8] get-tuple-element(%x), index=1\n  %n = f32[8] negate(%v)\n"
            "  ROOT %y = " +
            tuple + " tuple(%i, %" + next +
            ")\n}\n"
            "%cond (x: " +
            tuple + ") -> pred[] {\n  %x = " + tuple +
            " parameter(0)\n  ROOT %t = pred[] constant(true)\n}\n");
  };
  const Module kept = module_with("v");
  CHECK(Values(kept).source(value_of(kept, "r")) == value_of(kept, "p"));
  const Module changed = module_with("n");
  CHECK_FALSE(Values(changed).source(value_of(changed, "r")) == value_of(changed, "p"));
}

TEST_CASE("dependence is found by element of a tuple") {
  const Module module = testing::hlo_module(
      "  %id = u32[] partition-id()\n  %k = u32[] constant(3)\n"
      "  %t = (u32[], u32[]) tuple(%id, %k)\n  %a = u32[] get-tuple-element(%t), index=0\n"
      "  %b = u32[] get-tuple-element(%t), index=1\n  ROOT %c = u32[] add(%a, %b)\n");
  const Values values(module);
  const auto is_id = [&](const Value& value) {
    return values.instruction(value).opcode == "partition-id";
  };
  CHECK(values.depends_on(value_of(module, "c"), is_id));
  CHECK(values.depends_on(value_of(module, "a"), is_id));
  CHECK_FALSE(values.depends_on(value_of(module, "b"), is_id));
}

}  // namespace
}  // namespace equarx::hlo::audit_values_test
