#include "importers/common/audit_run.hpp"

#include "tests/catch.hpp"
#include "tests/importers/common/audits.hpp"

namespace equarx::imports::audit_run_test {
namespace {

const AuditFinding& finding_of(const AuditResult& audit, AuditRule rule) {
  for (const AuditFinding& finding : audit.findings)
    if (finding.rule == rule) return finding;
  throw std::logic_error("no such finding");
}

TEST_CASE("a remedy saves the difference of two simulated steps") {
  const testing::Audited made = testing::audited(testing::wide_gather());
  const AuditFinding& wide = finding_of(made.audit, AuditRule::wide_type);
  CHECK(wide.simulated);
  // Half the bytes of a gather that is bound by bandwidth.
  CHECK(wide.saved_s == Approx(wide.isolated_s / 2).epsilon(0.05));
  CHECK(wide.exposed_s == Approx(wide.isolated_s));
  CHECK(made.audit.step_s == made.result.runs[0].time_s);
}

TEST_CASE("findings are ordered by their saving, and costs come last") {
  const std::string sum =
      "HloModule m, is_scheduled=true, num_partitions=8\n"
      "%add (a: bf16[], b: bf16[]) -> bf16[] {\n  %a = bf16[] parameter(0)\n"
      "  %b = bf16[] parameter(1)\n  ROOT %c = bf16[] add(%a, %b)\n}\n"
      "ENTRY %main (p: bf16[4194304]) -> bf16[4194304] {\n  %p = bf16[4194304] parameter(0)\n"
      "  ROOT %r = bf16[4194304] all-reduce(%p), channel_id=1, "
      "replica_groups={{0,1,2,3,4,5,6,7}}, use_global_device_ids=true, to_apply=%add\n}\n";
  const testing::Audited made = testing::audited(sum);
  REQUIRE(made.audit.findings.size() == 2);
  CHECK(made.audit.findings[0].rule == AuditRule::exposed);
  CHECK(made.audit.findings[0].saved_s == 0.0);
  CHECK(made.audit.findings[1].rule == AuditRule::half_sum);
  CHECK(made.audit.findings[1].saved_s == Approx(-made.audit.findings[1].isolated_s).epsilon(0.1));
}

std::string sums(int elements) {
  const std::string shape = "f32[" + std::to_string(elements) + "]";
  std::string text =
      "HloModule m, is_scheduled=true, num_partitions=8\n"
      "%add (a: f32[], b: f32[]) -> f32[] {\n  %a = f32[] parameter(0)\n"
      "  %b = f32[] parameter(1)\n  ROOT %c = f32[] add(%a, %b)\n}\n"
      "ENTRY %main () -> f32[] {\n";
  for (int i = 0; i < 4; ++i) {
    const std::string n = std::to_string(i);
    text += "  %p" + n + " = " + shape + " parameter(" + n + ")\n";
  }
  for (int i = 0; i < 4; ++i) {
    const std::string n = std::to_string(i);
    text += "  %r" + n + " = " + shape + " all-reduce(%p" + n +
            "), channel_id=1, replica_groups={{0,1,2,3,4,5,6,7}}, use_global_device_ids=true, "
            "to_apply=%add\n";
  }
  return text + "  ROOT %n = " + shape + " negate(%r3)\n}\n";
}

TEST_CASE("small collectives are a finding only if combining them pays") {
  const testing::Audited small = testing::audited(sums(1024));
  const AuditFinding& finding = finding_of(small.audit, AuditRule::small);
  CHECK(finding.ops.size() == 4);
  CHECK(finding.saved_s > 0.5 * finding.isolated_s);
  for (const AuditFinding& large : testing::audited(sums(4 << 20)).audit.findings)
    CHECK(large.rule != AuditRule::small);
}

TEST_CASE("a program of one needless collective is left without tasks") {
  const testing::Audited made = testing::audited(
      "HloModule m, is_scheduled=true, num_partitions=8\n"
      "%add (a: f32[], b: f32[]) -> f32[] {\n  %a = f32[] parameter(0)\n"
      "  %b = f32[] parameter(1)\n  ROOT %c = f32[] add(%a, %b)\n}\n"
      "ENTRY %main () -> f32[] {\n  %k = f32[] constant(1)\n"
      "  ROOT %r = f32[] all-reduce(%k), channel_id=1, replica_groups={{0,1,2,3,4,5,6,7}}, "
      "use_global_device_ids=true, to_apply=%add\n}\n");
  const AuditFinding& finding = finding_of(made.audit, AuditRule::redundant);
  CHECK(finding.simulated);
  CHECK(finding.saved_s == made.audit.step_s);
}

}  // namespace
}  // namespace equarx::imports::audit_run_test
