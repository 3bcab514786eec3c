#include "importers/hlo/audit_redundant.hpp"

#include "tests/importers/hlo/audits.hpp"

namespace equarx::hlo::audit_redundant_test {
namespace {

using imports::AuditChange;
using imports::AuditRule;
using testing::findings_of;
using testing::kAllChips;

constexpr AuditRule kRule = AuditRule::redundant;

const std::string kPosition =
    "  %id = u32[] partition-id()\n  %size = u32[] constant(1024)\n"
    "  %at = u32[] multiply(%id, %size)\n  %zero = u32[] constant(0)\n";

std::string all_reduce(const std::string& name, const std::string& operand,
                       const std::string& shape = "f32[8192,64]") {
  return "  %" + name + " = " + shape + " all-reduce(%" + operand + ")" + kAllChips +
         ", to_apply=%add\n";
}

std::string slice(const std::string& of, const std::string& at, const std::string& rows) {
  return "  ROOT %s = f32[" + rows + ",64] dynamic-slice(%" + of + ", %" + at +
         ", %zero), dynamic_slice_sizes={" + rows + ",64}\n";
}

TEST_CASE("an all-reduce of which a chip uses its part is a reduce-scatter") {
  const std::string begin = "  %p = f32[8192,64] parameter(0)\n" + kPosition + all_reduce("r", "p");
  const auto found = findings_of(kRule, begin + slice("r", "at", "1024"));
  REQUIRE(found.size() == 1);
  CHECK(found[0].changes.at(0).kind == AuditChange::Kind::scatter);
  CHECK(found[0].excess_bytes == 8192 * 64 * 4 / 2.0);
  // A slice at the same place on all chips, a larger one, and another use.
  CHECK(findings_of(kRule, begin + slice("r", "zero", "1024")).empty());
  CHECK(findings_of(kRule, begin + slice("r", "at", "2048")).empty());
  CHECK(findings_of(kRule, begin + "  %n = f32[8192,64] negate(%r)\n" + slice("r", "at", "1024"))
            .empty());
}

TEST_CASE("the part is found through casts and positions that a loop carries") {
  const std::string tuple = "(s32[], f32[8192,64], u32[])";
  const std::string loop =
      "%body (p: " + tuple + ") -> " + tuple + " {\n  %p = " + tuple +
      " parameter(0)\n  %i = s32[] get-tuple-element(%p), index=0\n"
      "  %x = f32[8192,64] get-tuple-element(%p), index=1\n"
      "  %at = u32[] get-tuple-element(%p), index=2\n"
      "  %one = s32[] constant(1)\n  %zero = u32[] constant(0)\n  %j = s32[] add(%i, %one)\n" +
      all_reduce("r", "x") +
      "  %b = bf16[8192,64] convert(%r)\n"
      "  %s = bf16[1024,64] dynamic-slice(%b, %at, %zero), dynamic_slice_sizes={1024,64}\n"
      "  %f = f32[1024,64] convert(%s)\n  %y = f32[8192,64] pad(%f, %f), padding=0_7168x0_0\n"
      "  ROOT %t = " +
      tuple + " tuple(%j, %y, %at)\n}\n%cond (p: " + tuple + ") -> pred[] {\n  %p = " + tuple +
      " parameter(0)\n  %i = s32[] get-tuple-element(%p), index=0\n"
      "  %n = s32[] constant(4)\n  ROOT %c = pred[] compare(%i, %n), direction=LT\n}\n";
  const auto found = findings_of(kRule,
                                 "  %p = f32[8192,64] parameter(0)\n" + kPosition +
                                     "  %i = s32[] constant(0)\n  %t = " + tuple +
                                     " tuple(%i, %p, %at)\n  ROOT %w = " + tuple +
                                     " while(%t), condition=%cond, body=%body\n",
                                 loop);
  REQUIRE(found.size() == 1);
  CHECK(found[0].ops.at(0).times == 4.0);
}

TEST_CASE("a gather of which a chip uses its own part has no effect") {
  const std::string begin = "  %p = f32[1024,64] parameter(0)\n" + kPosition +
                            "  %g = f32[8192,64] all-gather(%p), dimensions={0}" + kAllChips + "\n";
  const auto found = findings_of(kRule, begin + slice("g", "at", "1024"));
  REQUIRE(found.size() == 1);
  CHECK(found[0].changes.at(0).kind == AuditChange::Kind::remove);
  CHECK(findings_of(kRule, begin + slice("g", "zero", "1024")).empty());
}

TEST_CASE("reductions of constants and of equal values are known without them") {
  const auto constant = findings_of(kRule,
                                    "  %k = f32[] constant(1)\n"
                                    "  %p = f32[8192,64] broadcast(%k), dimensions={}\n" +
                                        all_reduce("r", "p"));
  REQUIRE(constant.size() == 1);
  CHECK_THAT(constant[0].remedy, ContainsSubstring("multiply by 8"));
  const std::string twice = "  %p = f32[8192,64] parameter(0)\n" + all_reduce("r", "p");
  const auto equal =
      findings_of(kRule, twice + "  %c = f32[8192,64] copy(%r)\n" + all_reduce("s", "c"));
  REQUIRE(equal.size() == 1);
  CHECK(equal[0].ops.at(0).group == "s");
  CHECK(findings_of(kRule, twice + "  %c = f32[8192,64] negate(%p)\n" + all_reduce("s", "c"))
            .empty());
  // The position of a chip is no constant.
  CHECK(findings_of(kRule,
                    "  %id = u32[] partition-id()\n"
                    "  %f = f32[] convert(%id)\n"
                    "  %p = f32[8192,64] broadcast(%f), dimensions={}\n" +
                        all_reduce("r", "p"))
            .empty());
}

TEST_CASE("groups of one chip are listed without a time") {
  const auto found = findings_of(
      kRule,
      "  %p = f32[64] parameter(0)\n  %n = f32[64] negate(%p)\n  ROOT %r = f32[64] all-reduce(%p), "
      "channel_id=1, replica_groups=[8,1]<=[8], "
      "use_global_device_ids=true, to_apply=%add\n");
  REQUIRE(found.size() == 1);
  CHECK(found[0].changes.empty());
  CHECK(found[0].excess_bytes == 0.0);
}

}  // namespace
}  // namespace equarx::hlo::audit_redundant_test
