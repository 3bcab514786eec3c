#include "importers/hlo/cost.hpp"

#include "tests/catch.hpp"
#include "tests/importers/hlo/modules.hpp"

namespace equarx::hlo::cost_test {
namespace {

struct Costed {
  Cost cost;
  Skipped notes;
};

Costed costed(const std::string& lines, const std::string& before = "") {
  const Module module = testing::hlo_module(lines, before);
  Costed made;
  made.cost = CostModel(module).of(testing::instruction_of(module, "r"), testing::entry_of(module),
                                   made.notes);
  return made;
}

Cost cost(const std::string& lines, const std::string& before = "") {
  return costed(lines, before).cost;
}

constexpr const char* kParameters =
    "  %p = f32[100,8] parameter(0)\n  %q = f32[100,8] parameter(1)\n  %i = s32[] parameter(2)\n";

TEST_CASE("an element-wise instruction reads, computes and writes") {
  const Cost made = cost(std::string(kParameters) + "  %r = f32[100,8] add(%p, %q)\n");
  CHECK(made.vector_ops == 800.0);
  CHECK(made.hbm_bytes == 3 * 3200.0);
  CHECK(made.flops == 0.0);
}

TEST_CASE("slices read as much as they write, and updates write only the update") {
  CHECK(cost(std::string(kParameters) +
             "  %r = f32[2,8] dynamic-slice(%p, %i, %i), dynamic_slice_sizes={2,8}\n")
            .hbm_bytes == 64.0 + 64.0 + 2 * 4.0);
  CHECK(
      cost(std::string(kParameters) +
           "  %u = f32[2,8] parameter(3)\n  %r = f32[100,8] dynamic-update-slice(%p, %u, %i, %i)\n")
          .hbm_bytes == 64.0 + 64.0 + 2 * 4.0);
}

TEST_CASE("a fusion moves its operands and result, and computes as its computation does") {
  const Cost made =
      cost(std::string(kParameters) + "  %r = f32[100] fusion(%p, %q), kind=kLoop, calls=%inner\n",
           "%inner (x: f32[100,8], y: f32[100,8]) -> f32[100] {\n  %x = f32[100,8] parameter(0)\n  "
           "%y = f32[100,8] parameter(1)\n"
           "  %s = f32[100,8] multiply(%x, %y)\n  %z = f32[] constant(0)\n"
           "  ROOT %t = f32[100] reduce(%s, %z), dimensions={1}, to_apply=%add\n}\n");
  CHECK(made.vector_ops == 800.0 + 800.0);
  CHECK(made.hbm_bytes == 2 * 3200.0 + 400.0);
}

TEST_CASE("a fusion reads only the slices of a sliced operand, and nothing of an updated one") {
  const std::string slices =
      "%inner (x: f32[100,8], i: s32[]) -> f32[8] {\n  %x = f32[100,8] parameter(0)\n  %i = s32[] "
      "parameter(1)\n"
      "  %b = f32[100,8] bitcast(%x)\n"
      "  %s = f32[1,8] dynamic-slice(%b, %i, %i), dynamic_slice_sizes={1,8}\n  ROOT %t = f32[8] "
      "bitcast(%s)\n}\n";
  CHECK(cost(std::string(kParameters) + "  %r = f32[8] fusion(%p, %i), kind=kLoop, calls=%inner\n",
             slices)
            .hbm_bytes == 32.0 + 4.0 + 32.0);
  const std::string updates =
      "%inner (x: f32[100,8], y: f32[1,8], i: s32[]) -> f32[100,8] {\n  %x = f32[100,8] "
      "parameter(0)\n  %y = f32[1,8] parameter(1)\n"
      "  %i = s32[] parameter(2)\n  ROOT %t = f32[100,8] dynamic-update-slice(%x, %y, %i, %i)\n}\n";
  CHECK(cost(std::string(kParameters) + "  %u = f32[1,8] parameter(3)\n  %r = f32[100,8] "
                                        "fusion(%p, %u, %i), kind=kLoop, calls=%inner\n",
             updates)
            .hbm_bytes == 0.0 + 32.0 + 4.0 + 32.0);
  // Read in full if it is also used otherwise.
  const std::string both =
      "%inner (x: f32[100,8], i: s32[]) -> f32[100,8] {\n  %x = f32[100,8] parameter(0)\n  %i = "
      "s32[] parameter(1)\n"
      "  %s = f32[1,8] dynamic-slice(%x, %i, %i), dynamic_slice_sizes={1,8}\n"
      "  %m = f32[100,8] negate(%x)\n  ROOT %t = f32[100,8] dynamic-update-slice(%m, %s, %i, "
      "%i)\n}\n";
  CHECK(cost(std::string(kParameters) +
                 "  %r = f32[100,8] fusion(%p, %i), kind=kLoop, calls=%inner\n",
             both)
            .hbm_bytes == 3200.0 + 4.0 + 32.0);
}

TEST_CASE("a fusion with several results writes each") {
  const std::string inner =
      "%inner (x: f32[100,8], y: f32[1,8], i: s32[]) -> (f32[100,8], f32[1,8]) {\n  %x = "
      "f32[100,8] parameter(0)\n  %y = f32[1,8] parameter(1)\n"
      "  %i = s32[] parameter(2)\n  %n = f32[1,8] negate(%y)\n  %t = f32[100,8] "
      "dynamic-update-slice(%x, %n, %i, %i)\n"
      "  ROOT %two = (f32[100,8], f32[1,8]) tuple(%t, %n)\n}\n";
  CHECK(cost(std::string(kParameters) + "  %u = f32[1,8] parameter(3)\n  %r = (f32[100,8], "
                                        "f32[1,8]) fusion(%p, %u, %i), kind=kLoop, calls=%inner\n",
             inner)
            .hbm_bytes == 32.0 + 4.0 + 32.0 + 32.0);
}

TEST_CASE("on-chip arrays of a TPU take no HBM, and host arrays the host link") {
  const Cost made = cost(
      "  %p = f32[100]{0:S(1)} parameter(0)\n  %h = f32[100]{0:S(5)} parameter(1)\n  %r = "
      "f32[100]{0} add(%p, %h)\n");
  CHECK(made.hbm_bytes == 400.0);
  CHECK(made.from_host_bytes == 400.0);
  const Cost out = cost(
      "  %p = f32[100]{0} parameter(0)\n  %r = (f32[100]{0:S(5)}, f32[100]{0}, u32[]{:S(2)}) "
      "copy-start(%p)\n");
  CHECK(out.to_host_bytes == 400.0);
  CHECK(out.hbm_bytes == 400.0);
  // On a GPU this space is memory for collectives.
  const Cost gpu = cost(
      "  %p = f32[100]{0:S(1)} parameter(0)\n  %r = f32[100]{0} negate(%p), "
      "backend_config={\"operation_queue_id\":\"0\"}\n");
  CHECK(gpu.hbm_bytes == 800.0);
}

TEST_CASE("a kernel may have a cost estimate, and one without is noted") {
  const Costed estimated = costed(
      "  %p = f32[100] parameter(0)\n  %r = f32[100] custom-call(%p), "
      "custom_call_target=\"tpu_custom_call\", "
      "backend_config={\"custom_call_config\":{\"cost_estimate\":{\"flops\":\"5000\","
      "\"transcendentals\":\"1\",\"bytes_accessed\":\"77\"}}}\n");
  CHECK(estimated.cost.flops == 5000.0);
  CHECK(estimated.cost.hbm_bytes == 77.0);
  CHECK(estimated.notes.empty());
  const Costed unestimated = costed(
      "  %p = f32[100] parameter(0)\n  %r = f32[100] custom-call(%p), "
      "custom_call_target=\"mine\"\n");
  CHECK(unestimated.cost.flops == 0.0);
  CHECK(unestimated.cost.hbm_bytes == 800.0);
  CHECK(unestimated.notes.size() == 1);
  CHECK_THAT(unestimated.notes.begin()->first, ContainsSubstring("custom-call mine"));
}

TEST_CASE("unknown opcodes count their bytes and are noted") {
  const Costed made = costed("  %p = f32[100] parameter(0)\n  %r = f32[100] frobnicate(%p)\n");
  CHECK(made.cost.hbm_bytes == 800.0);
  CHECK(made.notes == Skipped{{"unknown opcode frobnicate: only bytes counted", 1}});
}

TEST_CASE("an FP32 product at the highest precision passes six times") {
  const Cost made = cost(
      "  %p = f32[8,8] parameter(0)\n  %r = f32[8,8] dot(%p, %p), lhs_contracting_dims={1}, "
      "operand_precision={highest,highest}\n");
  CHECK(made.flops == 1024.0);
  CHECK(made.matrix_flops == 6 * 1024.0);
}

TEST_CASE("a sort compares log n times in each row of n") {
  CHECK(
      cost("  %p = f32[16] parameter(0)\n  %r = f32[16] sort(%p), dimensions={0}, to_apply=%add\n")
          .comparisons == 16 * 4.0);
  CHECK(cost("  %p = f32[8,4] parameter(0)\n  %r = f32[8,4] sort(%p), dimensions={0}, "
             "to_apply=%add\n")
            .comparisons == 32 * 3.0);
  CHECK(cost("  %p = f32[8,4] parameter(0)\n  %r = (f32[8,4], u8[99]) custom-call(%p), "
             "custom_call_target=\"xla.gpu.ext.cub_sort_keys\"\n")
            .comparisons == 32 * 2.0);
}

TEST_CASE("vector work beyond one operation per element") {
  CHECK(cost("  %p = f32[8,8] parameter(0)\n  %z = f32[] constant(0)\n  %r = f32[4,4] "
             "reduce-window(%p, %z), window={size=2x2 stride=2x2}, to_apply=%add\n")
            .vector_ops == 16 * 4.0);
  CHECK(cost("  %p = f32[100,8] parameter(0)\n  %i = s32[2,1] parameter(1)\n  %u = f32[2,8] "
             "parameter(2)\n  %r = f32[100,8] scatter(%p, %i, %u), to_apply=%add\n")
            .vector_ops == 16.0);
}

TEST_CASE("renaming instructions are free") {
  for (const char* line :
       {"  %r = f32[100,8] bitcast(%p)\n", "  %r = (f32[100,8]) tuple(%p)\n",
        "  %r = f32[100,8] copy-done(%p)\n", "  %r = f32[100,8] all-reduce(%p), to_apply=%add\n"})
    CHECK(cost(std::string(kParameters) + line).is_nothing());
}

TEST_CASE("annotations are free and not noted") {
  for (const char* target : {"Sharding", "SPMDFullToShardShape", "annotate_device_placement",
                             "LayoutConstraint", "AllocateBuffer", "xla.sdy.GlobalToLocalShape"}) {
    const Costed made =
        costed(std::string(kParameters) +
               "  %r = f32[100,8] custom-call(%p), custom_call_target=\"" + target + "\"\n");
    CHECK(made.cost.is_nothing());
    CHECK(made.notes.empty());
  }
}

TEST_CASE("a fusion that normalizes rows that do not fit on chip reads them twice") {
  const auto bytes = [](const std::string& columns, const std::string& gpu) {
    const std::string type = "f32[4," + columns + "]";
    return cost("  %p = " + type + " parameter(0)\n  %r = " + type + " fusion(%p), calls=%norm" +
                    gpu + "\n",
                "%norm (x: " + type + ") -> " + type + " {\n  %x = " + type +
                    " parameter(0)\n  %z = f32[] constant(0)\n  %s = f32[4] reduce(%x, %z), "
                    "dimensions={1}, to_apply=%add\n  %b = " +
                    type + " broadcast(%s), dimensions={0}\n  ROOT %n = " + type +
                    " multiply(%x, %b)\n}\n")
        .hbm_bytes;
  };
  const std::string gpu = ", backend_config={\"fusion_backend_config\":{}}";
  CHECK(bytes("100000", "") == 2 * 4 * 4e5);
  CHECK(bytes("10000000", "") == 3 * 4 * 4e7);
  CHECK(bytes("100000", gpu) == 3 * 4 * 4e5);
  CHECK(bytes("1000", gpu) == 2 * 4 * 4e3);
}

}  // namespace
}  // namespace equarx::hlo::cost_test
