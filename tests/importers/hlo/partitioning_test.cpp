#include "importers/hlo/partitioning.hpp"

#include "tests/catch.hpp"
#include "tests/importers/hlo/modules.hpp"

namespace equarx::hlo::partitioning_test {
namespace {

const std::string kTiled = ", sharding={devices=[4,1]<=[4]}\n";
const std::string kWhole = "  %p = f32[8,8] parameter(0), sharding={replicated}\n";
const std::string kShare = "  %p = f32[8,8] parameter(0)" + kTiled;

void check(const std::string& lines, const std::string& header = "num_partitions=4",
           const std::string& before = "") {
  check_partitioned(testing::hlo_module(lines, before, header));
}

TEST_CASE("text before partitioning is refused with the remedy") {
  for (const char* target :
       {"Sharding", "SPMDFullToShardShape", "SPMDShardToFullShape", "xla.sdy.FuncResultSharding"})
    CHECK_THROWS_WITH(
        check(kWhole + "  %s = f32[8,8] custom-call(%p), custom_call_target=\"" + target + "\"\n"),
        ContainsSubstring("line 11: 's' (custom-call " + std::string(target)) &&
            ContainsSubstring("among 4 chips") && ContainsSubstring("compiled.as_text()") &&
            ContainsSubstring("after_optimizations"));
  CHECK_THROWS_WITH(
      check(kWhole + "  %n = f32[8,8] negate(%p)" + kTiled + "  %m = f32[8,8] negate(%n)\n"),
      ContainsSubstring("'n' (sharding={devices=[4,1]<=[4]})"));
  CHECK_THROWS_WITH(check(kShare + "  %n = f32[8,8] negate(%p)\n"), ContainsSubstring("'p'"));
  // The header may lack the number of chips.
  CHECK_THROWS_WITH(check(kShare + "  %n = f32[8,8] negate(%p)\n", "entry_computation_layout={}"),
                    ContainsSubstring("among 4 chips"));
  CHECK_THROWS_WITH(
      check("  %p = f32[8,8] parameter(0), sharding={mesh['a'=2,'b'=2], [{'a'}, {}]}\n"
            "  %n = f32[8,8] negate(%p)\n"),
      ContainsSubstring("'p'"));
}

TEST_CASE("shardings that remain after partitioning are accepted") {
  const std::string gather =
      "  %g = f32[32,8] all-gather(%p), channel_id=1, replica_groups=[1,4]<=[4], dimensions={0}\n";
  CHECK_NOTHROW(check(kShare + gather));
  CHECK_NOTHROW(check(kShare + gather + "  %c = f32[32,8] copy(%g)" + kTiled +
                      "  %n = f32[32,8] negate(%c)\n"));
  CHECK_NOTHROW(
      check(kShare + "  %n = f32[8,8] negate(%p)\n", "num_partitions=4, is_scheduled=true"));
  CHECK_NOTHROW(check(kShare + "  %n = f32[8,8] fusion(%p), calls=%f\n", "num_partitions=4",
                      "%f (x: f32[8,8]) -> f32[8,8] {\n  %x = f32[8,8] parameter(0)\n  ROOT %n = "
                      "f32[8,8] negate(%x)\n}\n"));
  CHECK_NOTHROW(check(kWhole + "  %n = f32[8,8] negate(%p), sharding={maximal device=0}\n"));
  // A program for one chip is not divided.
  CHECK_NOTHROW(check(kWhole + "  %s = f32[8,8] custom-call(%p), custom_call_target=\"Sharding\"\n",
                      "num_partitions=1"));
}

}  // namespace
}  // namespace equarx::hlo::partitioning_test
