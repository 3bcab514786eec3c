#include "importers/common/program_report.hpp"

#include "base/input/json.hpp"
#include "experiments/config/step_json.hpp"
#include "experiments/step/run.hpp"
#include "importers/hlo/import.hpp"
#include "tests/catch.hpp"

namespace equarx::imports::program_report_test {
namespace {

const std::string kText =
    "HloModule small, is_scheduled=true, num_partitions=16\n"
    "%add (a: f32[], b: f32[]) -> f32[] {\n  %a = f32[] parameter(0)\n  %b = f32[] parameter(1)\n"
    "  ROOT %c = f32[] add(%a, %b)\n}\n"
    "ENTRY %main (p: bf16[1048576]) -> bf16[1048576] {\n  %p = bf16[1048576] parameter(0)\n"
    "  %s = bf16[1048576] all-reduce-start(%p), channel_id=1, replica_groups=[4,4]<=[16], "
    "use_global_device_ids=true, to_apply=%add, metadata={op_name=\"jit(f)/psum\"}\n"
    "  %n = bf16[1048576] negate(%p)\n  %d = bf16[1048576] all-reduce-done(%s)\n"
    "  %t = bf16[1048576] all-reduce(%d), channel_id=2, replica_groups=[4,4]<=[4,4]T(1,0), "
    "use_global_device_ids=true, to_apply=%add\n"
    "  %q = bf16[1048576] collective-permute(%t), channel_id=3, source_target_pairs={{0,5}}\n"
    "  %u = bf16[1048576] collective-permute(%q), channel_id=4, "
    "source_target_pairs={{0,5},{1,5}}\n"
    "  ROOT %r = bf16[1048576] frobnicate(%u)\n}\n";

struct Simulated {
  ImportedProgram program;
  step::StepResult result;
};

Simulated simulated() {
  HloOptions options;
  options.topology = "4x4";
  ImportedProgram program = import_hlo(kText, options);
  const step::StepPlan plan = step::make_plan(config::read_step_config(program.step));
  return {std::move(program), step::run_step(plan, [](const std::string&) {})};
}

TEST_CASE("the table has a row per collective, longest exposed time first") {
  const Simulated made = simulated();
  const std::string table = to_table(made.program, made.result);
  CHECK_THAT(table, ContainsSubstring("small: 11 instructions in 2 computations, for 16 chips"));
  CHECK_THAT(table, ContainsSubstring("  Source operations:\n    s  jit(f)/psum\n"));
  CHECK(table.find(" t ") < table.find(" s "));  // not overlapped
  CHECK_THAT(table,
             ContainsSubstring("Not simulated: collective-permute u (1 x, 2.000 MiB in total): "
                               "unsupported pairs: chip 5 receives twice"));
  CHECK_THAT(table, ContainsSubstring("pairs (1)"));
  CHECK_THAT(table, ContainsSubstring("Note: unknown opcode frobnicate"));
  CHECK_THAT(table, ContainsSubstring("isolated   exposed  isolated   exposed\n"));
}

TEST_CASE("JSON has the same numbers by variant") {
  const Simulated made = simulated();
  const input::Json json = to_json(made.program, made.result);
  CHECK(json["module"]["chips"] == 16);
  CHECK(json["variants"].size() == 2);
  REQUIRE(json["collectives"].size() == 4);
  CHECK(json["collectives"][2]["variants"][0]["isolated_s"] > 0.0);
  CHECK(json["collectives"][2]["obstacle"] == "");
  const input::Json& first = json["collectives"][0];
  CHECK(first["bytes"] == 2097152.0);
  CHECK(first["variants"][1]["label"] == "int8");
  CHECK(first["variants"][1]["isolated_s"] < first["variants"][0]["isolated_s"]);
  CHECK(json["collectives"][3]["variants"].empty());
  CHECK(json["collectives"][3]["obstacle"] != "");
  CHECK(json["notes"].size() == 1);
}

}  // namespace
}  // namespace equarx::imports::program_report_test
