#include "importers/hlo/parser.hpp"

#include "tests/catch.hpp"
#include "tests/importers/hlo/modules.hpp"

namespace equarx::hlo::parser_test {
namespace {

Shape shape_of(const std::string& text) {
  Scanner scanner(text);
  return read_shape(scanner);
}

TEST_CASE("shapes are read with layouts, spaces, tuples and comments") {
  CHECK(text_of(shape_of("f32[]")) == "f32[]");
  CHECK(text_of(shape_of("bf16[2,3]{1,0:T(8,128)(2,1)}")) == "bf16[2,3]");
  CHECK(shape_of("f32[2]{0:T(256)S(1)}").space == MemorySpace::fast);
  CHECK(shape_of("f32[2]{0:S(5)}").space == MemorySpace::host);
  CHECK(shape_of("u32[]{:T(128)S(6)}").space == MemorySpace::other);
  CHECK(text_of(shape_of("f32[<=8,?]")) == "f32[8,1]");
  CHECK(text_of(shape_of("((f32[2]{0}, s8[]), /*index=2*/ token[])")) ==
        "((f32[2], s8[]), token[])");
  CHECK(text_of(shape_of("()")) == "()");
}

TEST_CASE("invalid shapes are rejected with their line") {
  CHECK_THROWS_WITH(shape_of("f32"), ContainsSubstring("line 1: expected a shape"));
  CHECK_THROWS_WITH(shape_of("f32[2,-3]"), ContainsSubstring("'-3' is not the length"));
  CHECK_THROWS_WITH(shape_of("f32[99999999999999999999]"), ContainsSubstring("is not the length"));
  CHECK_THROWS_WITH(shape_of("(f32[2] f32[3])"), ContainsSubstring("expected ',' or ')'"));
  CHECK_THROWS_WITH(shape_of(std::string(100, '(')), ContainsSubstring("64 deep"));
}

TEST_CASE("a module is parsed completely") {
  const Module module = testing::hlo_module(
      "  %p = f32[4,2]{1,0} parameter(0), sharding={devices=[2,1]<=[2]}, metadata={op_name=\"x, "
      "y\"}\n"
      "  %k = s32[] constant(-7)\n"
      "  %r = f32[2]{0} reduce(f32[4,2]{1,0} %p, %k), dimensions={0}, to_apply=%add\n"
      "  ROOT %t = (f32[2]{0}, /*index=1*/s32[]) tuple(%r, k)\n");
  CHECK(module.name == "test");
  CHECK(module.is_scheduled);
  CHECK(module.devices() == 8);
  CHECK(module.instructions() == 7);
  CHECK(module.skipped.empty());
  const Computation& entry = testing::entry_of(module);
  CHECK(entry.name == "main");
  CHECK(entry.root == 3);
  CHECK(entry.instructions[0].payload == "0");
  CHECK(entry.instructions[0].attribute("metadata") == "{op_name=\"x, y\"}");
  CHECK(entry.instructions[1].payload == "-7");
  CHECK(entry.instructions[2].operands == std::vector<InstructionId>{0, 1});
  CHECK(module.computations[entry.instructions[2].called.front()].name == "add");
  CHECK(entry.instructions[2].line == 12);
  CHECK(entry.instructions[3].operands == std::vector<InstructionId>{2, 1});
}

TEST_CASE("source tables, other signatures and long constants are skipped") {
  const Module module = parse_module(
      "HloModule m\n\nFileNames\n1 \"/a.py\"\n\nStackFrames\n1 {file_location_id=1}\n\n"
      "body {\n  ROOT p.1 = f32[] parameter(0)\n} // body\n, execution_thread=\"main\"\n"
      "ENTRY main {\n  c = f32[2,2] constant({\n  { 1, 2 },\n  { 3, 4 }\n})\n"
      "  ROOT n = f32[2,2] negate(c)\n}\n");
  CHECK(module.computations.size() == 2);
  CHECK(testing::entry_of(module).instructions.size() == 2);
  CHECK(module.devices() == 1);
  CHECK_FALSE(module.is_scheduled);
}

TEST_CASE("an instruction may continue on the next line after a comma") {
  const Module module = testing::hlo_module(
      "  %p = f32[4,2]{1,0}\n    parameter(0)\n"
      "  %r = f32[2]{0} reduce(\n      f32[4,2]{1,0} %p,\n      f32[4,2]{1,0} %p),\n"
      "    dimensions={0},\n    to_apply=%add\n  ROOT %n = f32[2]{0} negate(%r)\n");
  const Computation& entry = testing::entry_of(module);
  REQUIRE(entry.instructions.size() == 3);
  CHECK(module.skipped.empty());
  CHECK(entry.instructions[1].operands == std::vector<InstructionId>{0, 0});
  CHECK(entry.instructions[1].attribute("dimensions") == "{0}");
  CHECK(entry.instructions[1].called.size() == 1);
}

TEST_CASE("unknown constructs are counted") {
  const Module module = testing::hlo_module(
      "  %p = f12[4] parameter(0), odd\n"
      "  what is this\n"
      "  ROOT %n = f32[4]{0} negate(%q), to_apply=%nobody\n");
  CHECK(module.skipped == Skipped{{"unknown type f12", 1},
                                  {"attribute without a value", 1},
                                  {"line that is not an instruction", 1},
                                  {"undefined operand", 1},
                                  {"undefined computation", 1}});
  CHECK(testing::entry_of(module).instructions[1].operands.front() == kNoInstruction);
}

TEST_CASE("text that is not a complete module is rejected") {
  CHECK_THROWS_WITH(parse_module(""), ContainsSubstring("is not HLO text"));
  CHECK_THROWS_WITH(parse_module("HloModule m\n"), ContainsSubstring("no ENTRY"));
  CHECK_THROWS_WITH(parse_module("HloModule m\nENTRY %e {\n}\n"),
                    ContainsSubstring("'e' has no instructions"));
  CHECK_THROWS_WITH(parse_module("HloModule m\nENTRY %e {\n %a = f32[] constant(1)\n"),
                    ContainsSubstring("the text ends within computation 'e'"));
  CHECK_THROWS_WITH(parse_module("HloModule m\nENTRY %e {\n %a = f32[] negate(\n"),
                    ContainsSubstring("line 3: unclosed bracket"));
  CHECK_THROWS_WITH(testing::hlo_module(" %a = f32[] constant(1)\n %a = f32[] constant(2)\n"),
                    ContainsSubstring("duplicate instruction 'a'"));
}

TEST_CASE("recursive computations are rejected") {
  CHECK_THROWS_WITH(testing::hlo_module(" %a = f32[] call(), to_apply=%one\n",
                                        "%one {\n %x = f32[] call(), to_apply=%two\n}\n"
                                        "%two {\n %y = f32[] call(), to_apply=%one\n}\n"),
                    ContainsSubstring("calls itself"));
  std::string chain;
  for (int i = 0; i < 300; ++i)
    chain += "%c" + std::to_string(i) + " {\n %x = f32[] call(), to_apply=%c" +
             std::to_string(i + 1) + "\n}\n";
  CHECK_THROWS_WITH(testing::hlo_module(" %a = f32[] constant(1)\n",
                                        chain + "%c300 {\n %x = f32[] constant(1)\n}\n"),
                    ContainsSubstring("256 deep"));
}

TEST_CASE("escaped quotes of an attribute are those of the unescaped form") {
  const auto config = [](const std::string& text) {
    const Module module =
        testing::hlo_module("  %r = f32[8] constant(0), backend_config=" + text + "\n");
    return std::string(testing::instruction_of(module, "r").attribute("backend_config"));
  };
  const std::string plain = R"({"known_trip_count":{"n":"7"}})";
  CHECK(config(plain) == plain);
  CHECK(config(R"("{\"known_trip_count\":{\"n\":\"7\"}}")") == plain);
  CHECK(config(R"("{\"a\":\"\\\"b\\\"\\\\\"}")") == R"({"a":"\"b\"\\"})");
  CHECK(config(R"("a\n")") == R"(a\n)");
}

TEST_CASE("attributes of any name may name computations, and those of instructions do not") {
  const Module module = testing::hlo_module(
      "  %p = f32[8] parameter(0)\n  %x = f32[8] negate(%p), runs={%add}\n"
      "  %add = f32[8] negate(%x), control-predecessors={%add}, other={%gone}\n");
  CHECK(testing::instruction_of(module, "x").called == std::vector<ComputationId>{0});
  CHECK(testing::instruction_of(module, "add").called.empty());
  CHECK(module.skipped.empty());
}

TEST_CASE("operands may name elements of tuples") {
  const Module module = testing::hlo_module(
      "  %p = (f32[8], (bf16[4], s32[])) parameter(0)\n  %x = f32[8] add(%p#0, f32[8] %p#0)\n"
      "  %y = bf16[4] negate(%p#1#0)\n  %z = f32[8] negate(%p#2)\n  %v = f32[8] negate(%gone#0)\n"
      "  %u = f32[8] negate(%x#0)\n  ROOT %t = (f32[8]) tuple(%x)\n");
  const Computation& entry = testing::entry_of(module);
  const Instruction& x = testing::instruction_of(module, "x");
  REQUIRE(x.operands.size() == 2);
  CHECK(x.operands[0] == x.operands[1]);
  const Instruction* element = operand_of(x, 0, entry);
  REQUIRE(element != nullptr);
  CHECK(element->opcode == "get-tuple-element");
  CHECK(element->attribute("index") == "0");
  CHECK(text_of(element->shape) == "f32[8]");
  CHECK(text_of(operand_of(testing::instruction_of(module, "y"), 0, entry)->shape) == "bf16[4]");
  CHECK(module.skipped == Skipped{{"undefined operand", 3}});
  CHECK(entry.instructions[entry.root].name == "t");
}

TEST_CASE("the devices of a mesh are part of its groups") {
  const Module module = testing::hlo_module(
      "  %p = f32[8] parameter(0)\n  %r = f32[8] all-reduce(%p), replica_groups=mesh['a'=2,'b'=4], "
      "device_ids=([4,2]T(1,0)) {'a'}, channel_id=3, to_apply=%add\n  %s = f32[8] all-reduce(%p), "
      "replica_groups=@mesh<a=2,b=4> {a}, channel_id=4, to_apply=%add\n");
  const Instruction& made = testing::instruction_of(module, "r");
  CHECK(made.attribute("replica_groups") == "mesh['a'=2,'b'=4], device_ids=([4,2]T(1,0)) {'a'}");
  CHECK(made.attribute("channel_id") == "3");
  CHECK(testing::instruction_of(module, "s").attribute("replica_groups") == "@mesh<a=2,b=4> {a}");
  CHECK(testing::instruction_of(module, "s").attribute("channel_id") == "4");
}

TEST_CASE("StableHLO is refused with the way to HLO") {
  for (const char* text : {"module @jit_f {\n", "#loc = loc(unknown)\nmodule @jit_f attributes {",
                           "func.func @main() {\n  %0 = stablehlo.add %1, %2\n"})
    CHECK_THROWS_WITH(parse_module(text), ContainsSubstring("is StableHLO") &&
                                              ContainsSubstring(".compile()") &&
                                              ContainsSubstring("compiled.as_text()"));
  CHECK_THROWS_WITH(parse_module("hello"), ContainsSubstring("is not HLO text"));
}

}  // namespace
}  // namespace equarx::hlo::parser_test
