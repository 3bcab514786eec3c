#include "importers/hlo/audit_repeats.hpp"

#include "tests/importers/hlo/audits.hpp"

namespace equarx::hlo::audit_repeats_test {
namespace {

using imports::AuditChange;
using imports::AuditRule;
using testing::findings_of;
using testing::kAllChips;

constexpr AuditRule kRule = AuditRule::gathered_twice;

std::string gather(const std::string& name, const std::string& operand, const std::string& type,
                   const std::string& groups = "{{0,1,2,3,4,5,6,7}}") {
  return "  %" + name + " = " + type + "[8192,64] all-gather(%" + operand +
         "), channel_id=1, replica_groups=" + groups +
         ", use_global_device_ids=true, dimensions={0}\n";
}

const std::string kUses = "  ROOT %t = (f32[8192,64], f32[8192,64]) tuple(%g, %h)\n";

TEST_CASE("the second gather of a value is a finding, whatever its type and group syntax") {
  const std::string begin =
      "  %p = bf16[1024,64] parameter(0)\n  %c = f32[1024,64] convert(%p)\n"
      "  %d = f32[1024,64] copy(%c)\n" +
      gather("g", "c", "f32");
  const auto found = findings_of(kRule, begin + gather("h", "d", "f32", "[1,8]<=[8]") + kUses);
  REQUIRE(found.size() == 1);
  CHECK(found[0].ops.at(0).group == "h");
  CHECK(found[0].memory_bytes == 8192 * 64 * 2.0);  // in bf16
  CHECK(found[0].excess_bytes == 8192 * 64 * 4.0);
  CHECK(found[0].changes.at(0).kind == AuditChange::Kind::remove);
  CHECK(findings_of(kRule, begin + gather("h", "p", "bf16") +
                               "  ROOT %t = (f32[8192,64], bf16[8192,64]) tuple(%g, %h)\n")
            .size() == 1);
}

TEST_CASE("gathers of other values, groups and slices are no finding") {
  const std::string begin =
      "  %p = f32[1024,64] parameter(0)\n  %q = f32[1024,64] parameter(1)\n"
      "  %n = f32[1024,64] negate(%p)\n";
  CHECK(findings_of(kRule, begin + gather("g", "p", "f32") + gather("h", "q", "f32") + kUses)
            .empty());
  CHECK(findings_of(kRule, begin + gather("g", "p", "f32") + gather("h", "n", "f32") + kUses)
            .empty());
  CHECK(findings_of(kRule,
                    "  %p = f32[1024,64] parameter(0)\n"
                    "  %g = f32[4096,64] all-gather(%p), channel_id=1, "
                    "replica_groups={{0,1,2,3},{4,5,6,7}}, use_global_device_ids=true, "
                    "dimensions={0}\n"
                    "  %h = f32[4096,64] all-gather(%p), channel_id=2, "
                    "replica_groups={{0,2,4,6},{1,3,5,7}}, use_global_device_ids=true, "
                    "dimensions={0}\n"
                    "  ROOT %t = (f32[4096,64], f32[4096,64]) tuple(%g, %h)\n")
            .empty());
  const std::string slices =
      "  %w = f32[2048,64] parameter(0)\n"
      "  %a = f32[1024,64] slice(%w), slice={[0:1024], [0:64]}\n"
      "  %b = f32[1024,64] slice(%w), slice={[";
  CHECK(findings_of(kRule, slices + "1024:2048], [0:64]}\n" + gather("g", "a", "f32") +
                               gather("h", "b", "f32") + kUses)
            .empty());
  CHECK(findings_of(kRule, slices + "0:1024], [0:64]}\n" + gather("g", "a", "f32") +
                               gather("h", "b", "f32") + kUses)
            .size() == 1);
}

TEST_CASE("planes of an FP8 weight are two quantizations of one value") {
  const auto quantized = [](const std::string& name, const std::string& factor) {
    return "  %s" + name + " = bf16[1024,64] broadcast(%" + factor +
           "), dimensions={}\n"
           "  %m" +
           name + " = bf16[1024,64] multiply(%p, %s" + name +
           ")\n"
           "  %q" +
           name + " = f8e4m3fn[1024,64] convert(%m" + name + ")\n";
  };
  const std::string begin =
      "  %p = bf16[1024,64] parameter(0)\n  %x = bf16[] parameter(1)\n"
      "  %y = bf16[] parameter(2)\n";
  const auto found =
      findings_of(kRule, begin + quantized("1", "x") + quantized("2", "y") +
                             gather("g", "q1", "f8e4m3fn") + gather("h", "q2", "f8e4m3fn") + kUses);
  REQUIRE(found.size() == 1);
  CHECK_THAT(found[0].why, ContainsSubstring("second quantization"));
}

/// A loop whose body has these lines; %w is element 1 of its tuple, %i the index.
std::string loop(const std::string& name, const std::string& shape, const std::string& lines,
                 const std::string& next = "%w") {
  const std::string tuple = "(s32[], " + shape + ")";
  return "%" + name + "_body (p: " + tuple + ") -> " + tuple + " {\n  %p = " + tuple +
         " parameter(0)\n  %i = s32[] get-tuple-element(%p), index=0\n  %w = " + shape +
         " get-tuple-element(%p), index=1\n  %one = s32[] constant(1)\n  %j = s32[] add(%i, "
         "%one)\n" +
         lines + "  ROOT %t = " + tuple + " tuple(%j, " + next + ")\n}\n%" + name +
         "_cond (p: " + tuple + ") -> pred[] {\n  %p = " + tuple +
         " parameter(0)\n  %i = s32[] get-tuple-element(%p), index=0\n"
         "  %n = s32[] constant(4)\n  ROOT %c = pred[] compare(%i, %n), direction=LT\n}\n";
}

std::string run(const std::string& name, const std::string& shape) {
  const std::string tuple = "(s32[], " + shape + ")";
  return "  %" + name + "_t = " + tuple + " tuple(%zero, %p)\n  %" + name + " = " + tuple +
         " while(%" + name + "_t), condition=%" + name + "_cond, body=%" + name + "_body\n";
}

TEST_CASE("a gather of a loop invariant runs once if it is hoisted") {
  const std::string shape = "f32[1024,64]";
  const std::string entry = "  %p = " + shape + " parameter(0)\n  %zero = s32[] constant(0)\n" +
                            run("a", shape) + "  ROOT %r = s32[] get-tuple-element(%a), index=0\n";
  const auto found = findings_of(kRule, entry, loop("a", shape, gather("g", "w", "f32")));
  REQUIRE(found.size() == 1);
  CHECK_THAT(found[0].why, ContainsSubstring("in every iteration"));
  CHECK(found[0].changes.at(0).kept == 1);
  CHECK(found[0].excess_bytes == 3.0 * 8192 * 64 * 4);
  // A value that the loop changes.
  CHECK(findings_of(
            kRule, entry,
            loop("a", shape, gather("g", "w", "f32") + "  %v = f32[1024,64] negate(%w)\n", "%v"))
            .empty());
}

TEST_CASE("layers that two loops gather are gathered again") {
  const std::string shape = "f32[4,1024,64]";
  const auto body = [](const std::string& name, const std::string& index) {
    return "  %z = s32[] constant(0)\n  %l = s32[] constant(3)\n  %k = s32[] subtract(%l, %i)\n"
           "  %d = f32[1,1024,64] dynamic-slice(%w, %" +
           index +
           ", %z, %z), dynamic_slice_sizes={1,1024,64}\n"
           "  %b = f32[1024,64] bitcast(%d)\n" +
           gather(name, "b", "f32");
  };
  const std::string entry = "  %p = " + shape + " parameter(0)\n  %zero = s32[] constant(0)\n" +
                            run("a", shape) + run("b", shape) +
                            "  ROOT %r = s32[] get-tuple-element(%b), index=0\n";
  const auto found = findings_of(
      kRule, entry, loop("a", shape, body("g", "i")) + loop("b", shape, body("h", "k")));
  REQUIRE(found.size() == 1);
  CHECK(found[0].ops.at(0).group == "h");
  CHECK_THAT(found[0].why, ContainsSubstring("all layers of an array again"));
  CHECK(found[0].memory_bytes == 4.0 * 8192 * 64 * 4);
  CHECK(findings_of(kRule,
                    "  %p = " + shape + " parameter(0)\n  %zero = s32[] constant(0)\n" +
                        run("a", shape) + "  ROOT %r = s32[] get-tuple-element(%a), index=0\n",
                    loop("a", shape, body("g", "i")))
            .empty());
}

}  // namespace
}  // namespace equarx::hlo::audit_repeats_test
