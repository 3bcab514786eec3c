#include "importers/hlo/collectives.hpp"

#include "tests/catch.hpp"
#include "tests/importers/hlo/modules.hpp"

namespace equarx::hlo::collectives_test {
namespace {

/// Describes instruction %r of the entry, or of computation `in`.
CollectiveOp op(const std::string& lines, const std::string& before = "",
                const std::string& in = "main") {
  const Module module = testing::hlo_module(
      "  %p = bf16[16,4] parameter(0)\n  %q = f32[8] parameter(1)\n" + lines, before);
  for (ComputationId id = 0; id < module.computations.size(); ++id)
    for (InstructionId of = 0; of < module.computations[id].instructions.size(); ++of)
      if (module.computations[id].name == in &&
          module.computations[id].instructions[of].name == "r")
        return collective_op(module, id, of, in != "main");
  throw std::logic_error("no instruction r");
}

constexpr const char* kRows =
    ", channel_id=1, replica_groups=[2,4]<=[8], use_global_device_ids=true";

TEST_CASE("an all-reduce has the bytes of its operands, also of several types") {
  const CollectiveOp one = op("  %r = bf16[16,4] all-reduce(%p)" + std::string(kRows) +
                              ", to_apply=%add, metadata={op_name=\"jit(f)/dot\" x=1}\n");
  CHECK(one.kind == CollectiveKind::all_reduce);
  CHECK(one.bytes == 128.0);
  CHECK(one.type == "bf16");
  CHECK(one.adds);
  CHECK(one.waits);
  CHECK(one.op_name == "jit(f)/dot");
  CHECK(one.groups.size() == 2);
  const CollectiveOp both =
      op("  %r = (bf16[16,4], f32[8]) all-reduce-start(%p, %q), to_apply=%add\n");
  CHECK(both.bytes == 128.0 + 32.0);
  CHECK(both.type == "bf16");
  CHECK_FALSE(both.waits);
}

TEST_CASE("an all-gather has the bytes of its result") {
  const CollectiveOp made =
      op("  %r = (bf16[16,4], bf16[64,4]) all-gather-start(%p), dimensions={0}" +
         std::string(kRows) + "\n");
  CHECK(made.bytes == 4 * 128.0);
  CHECK_FALSE(made.adds);
  CHECK(made.combines.empty());
}

TEST_CASE("each kind is recognized") {
  CHECK(op("  %r = bf16[4,4] reduce-scatter(%p), dimensions={0}, to_apply=%add" +
           std::string(kRows) + "\n")
            .kind == CollectiveKind::reduce_scatter);
  CHECK(op("  %r = bf16[16,4] all-to-all(%p), dimensions={0}, replica_groups={}\n").kind ==
        CollectiveKind::all_to_all);
  CHECK(op("  %r = bf16[16,4] collective-broadcast(%p), replica_groups={{0}}\n").kind ==
        CollectiveKind::broadcast);
  const CollectiveOp permute =
      op("  %r = bf16[16,4] collective-permute(%p), channel_id=2, "
         "source_target_pairs={{0,1},{1,2}}\n");
  CHECK(permute.kind == CollectiveKind::permute);
  CHECK(permute.pairs.size() == 2);
  const CollectiveOp ragged =
      op("  %r = f32[8] ragged-all-to-all(%q, %q, %q, %q, %q, %q), replica_groups={}\n");
  CHECK(ragged.is_ragged);
  CHECK(ragged.bytes == 32.0);
}

TEST_CASE("a maximum is not a sum") {
  const std::string max =
      "%max (a: f32[], b: f32[]) -> f32[] {\n  %a = f32[] parameter(0)\n  %b = f32[] parameter(1)\n"
      "  ROOT %m = f32[] maximum(%a, %b)\n}\n";
  const CollectiveOp made = op("  %r = f32[8] all-reduce(%q), to_apply=%max\n", max);
  CHECK_FALSE(made.adds);
  CHECK(made.combines == "maximum");
}

TEST_CASE("an all-reduce that is only sliced within a fusion is a reduce-scatter") {
  const std::string all =
      "%scatter (x: bf16[16,4], i: s32[]) -> bf16[4,4] {\n  %x = bf16[16,4] parameter(0)\n  %i = "
      "s32[] parameter(1)\n  %r = bf16[16,4] all-reduce(%x), to_apply=%add" +
      std::string(kRows) + "\n";
  const std::string slice =
      "  %s = bf16[4,4] dynamic-slice(%r, %i, %i), dynamic_slice_sizes={4,4}\n";
  const CollectiveOp sliced = op("", all + slice + "}\n", "scatter");
  CHECK(sliced.kind == CollectiveKind::reduce_scatter);
  CHECK(sliced.bytes == 128.0);
  CHECK(sliced.computation == "scatter");
  CHECK(op("", all + slice + "  %n = bf16[16,4] negate(%r)\n}\n", "scatter").kind ==
        CollectiveKind::all_reduce);
}

TEST_CASE("a synchronous collective of a GPU is blocking") {
  CHECK(op("  %r = f32[8] all-reduce-start(%q), to_apply=%add, "
           "backend_config={\"collective_backend_config\":{\"is_sync\":true}}\n")
            .waits);
}

TEST_CASE("a collective knows its place in the module") {
  const CollectiveOp made = op("  %r = f32[8] all-reduce(%q), to_apply=%add\n");
  CHECK(made.computation_id == 1);  // after %add
  CHECK(made.instruction_id == 2);
  CHECK(made.line == 12);
}

}  // namespace
}  // namespace equarx::hlo::collectives_test
