#include "importers/hlo/audit.hpp"

#include "tests/importers/hlo/audits.hpp"

namespace equarx::hlo::audit_test {
namespace {

using imports::AuditRule;

TEST_CASE("a program without collectives or defects has no findings") {
  const auto plain = testing::audited_program(testing::hlo_text(
      "  %p = f32[1024] parameter(0)\n  %r = f32[1024] all-reduce(%p)" + testing::kAllChips +
      ", to_apply=%add\n  ROOT %n = f32[1024] negate(%r)\n"));
  REQUIRE(plain.audit);
  CHECK(plain.audit->findings.empty());
  CHECK(plain.audit->schedules.size() == 1);
  CHECK_THAT(plain.audit->notes.back(),
             ContainsSubstring("--xla_tpu_enable_latency_hiding_scheduler=true"));
  CHECK(testing::audited_program(
            testing::hlo_text("  %p = f32[8] parameter(0)\n  ROOT %n = f32[8] negate(%p)\n"))
            .audit->schedules.empty());
}

TEST_CASE("the audit is only made on request, and names its limits") {
  imports::HloOptions options;
  options.topology = "ring:8";
  const std::string lines = "  %p = f32[8] parameter(0)\n  ROOT %n = f32[8] negate(%p)\n";
  CHECK_FALSE(imports::import_hlo(testing::hlo_text(lines), options).audit);
  options.audit = true;
  const auto unscheduled =
      imports::import_hlo(testing::hlo_text(lines, "", "num_partitions=8"), options);
  CHECK_THAT(unscheduled.audit.value().notes.at(0), ContainsSubstring("not scheduled"));
}

TEST_CASE("collectives of branches that are not taken are not audited") {
  const auto program = testing::audited_program(testing::hlo_text(
      "  %p = bf16[65536] parameter(0)\n  %c = pred[] parameter(1)\n"
      "  ROOT %r = bf16[65536] conditional(%c, %p, %p), true_computation=%big, "
      "false_computation=%small\n",
      "%big (x: bf16[65536]) -> bf16[65536] {\n  %x = bf16[65536] parameter(0)\n"
      "  ROOT %r = bf16[65536] all-reduce(%x)" +
          testing::kAllChips +
          ", to_apply=%plus\n}\n"
          "%small (x: bf16[65536]) -> bf16[65536] {\n  %x = bf16[65536] parameter(0)\n"
          "  %s = bf16[1024] slice(%x), slice={[0:1024]}\n  %t = bf16[1024] all-reduce(%s)" +
          testing::kAllChips +
          ", to_apply=%plus\n  ROOT %y = bf16[65536] pad(%t, %t), padding=0_64512\n}\n"
          "%plus (a: bf16[], b: bf16[]) -> bf16[] {\n  %a = bf16[] parameter(0)\n"
          "  %b = bf16[] parameter(1)\n  ROOT %c = bf16[] add(%a, %b)\n}\n"));
  REQUIRE(program.audit->findings.size() == 1);
  CHECK(program.audit->findings[0].rule == AuditRule::half_sum);
  CHECK(program.audit->findings[0].ops.at(0).group == "r");
}

}  // namespace
}  // namespace equarx::hlo::audit_test
