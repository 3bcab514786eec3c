#include "importers/common/audit_exposed.hpp"

#include "tests/catch.hpp"
#include "tests/importers/common/audits.hpp"

namespace equarx::imports::audit_exposed_test {
namespace {

std::vector<AuditFinding> exposed(const std::string& text) {
  std::vector<AuditFinding> found;
  for (const AuditFinding& finding : testing::audited(text).audit.findings)
    if (finding.rule == AuditRule::exposed) found.push_back(finding);
  return found;
}

TEST_CASE("a synchronous gather hides no more than the independent compute") {
  const auto found = exposed(testing::wide_gather());
  REQUIRE(found.size() == 1);
  CHECK_THAT(found[0].why, ContainsSubstring("synchronous"));
  CHECK_FALSE(found[0].simulated);
  CHECK(found[0].saved_s > 0.0);
  CHECK(found[0].saved_s < found[0].exposed_s);
  CHECK_THAT(found[0].remedy, ContainsSubstring("latency-hiding scheduler"));
}

TEST_CASE("without independent compute the remedy is another program") {
  // The gather needs %n, and %r the gather.
  std::string text = testing::wide_gather();
  text.replace(text.find("convert(%p)"), 11, "negate(%m)");
  text.insert(text.find("  %c ="),
              "  %n = f32[4194304] negate(%q)\n"
              "  %m = f32[2097152] slice(%n), slice={[0:2097152]}\n");
  text.erase(text.find("  %n = f32[4194304] negate(%q)\n", text.find("%g =")), 32);
  const auto found = exposed(text);
  REQUIRE(found.size() == 1);
  CHECK(found[0].saved_s == 0.0);
  CHECK_THAT(found[0].remedy, ContainsSubstring("microbatches"));
}

TEST_CASE("many short exposures of one operation are one finding") {
  std::string text =
      "HloModule m, is_scheduled=true, num_partitions=8\nENTRY %main () -> f32[] {\n"
      "  %p = f32[64] parameter(0)\n  %big = f32[268435456] parameter(1)\n"
      "  %n = f32[268435456] negate(%big)\n";
  for (int i = 0; i < 4; ++i)
    text += "  %k" + std::to_string(i) + " = f32[268435456] negate(%big)\n";
  for (int i = 0; i < 40; ++i) {
    const std::string n = std::to_string(i);
    text += "  %g" + n + " = f32[512] all-gather(%p), channel_id=" + std::to_string(i + 1) +
            ", replica_groups={{0,1,2,3,4,5,6,7}}, use_global_device_ids=true, dimensions={0}, "
            "metadata={op_name=\"jit(f)/layer_" +
            n + "\"}\n  %m" + n + " = f32[512] negate(%g" + n + ")\n";
  }
  const testing::Audited made = testing::audited(text + "}\n");
  const auto found =
      std::ranges::find(made.audit.findings, AuditRule::exposed, &AuditFinding::rule);
  REQUIRE(found != made.audit.findings.end());
  CHECK(found->ops.size() == 40);
  CHECK(found->exposed_s / 40 < 1e-3 * made.audit.step_s);  // each alone is below the limit
}

/// The gather as a pair, with these lines between its ends.
std::string pair(const std::string& between) {
  std::string text = testing::wide_gather("negate(%d)");
  text.replace(text.find("%g = f32[16777216] all-gather("), 30,
               "%g = (f32[2097152], f32[16777216]) all-gather-start(");
  text.replace(text.find("  %n ="), 31, between + "  %d = f32[16777216] all-gather-done(%g)\n");
  return text;
}

TEST_CASE("pairs are exposed for the compute that is missing between their ends") {
  const auto empty = exposed(pair(""));
  REQUIRE(empty.size() == 1);
  CHECK_THAT(empty[0].why, ContainsSubstring("No compute is scheduled"));
  const auto little = exposed(pair("  %n = f32[4194304] negate(%q)\n"));
  REQUIRE(little.size() == 1);
  CHECK_THAT(little[0].why, ContainsSubstring("The compute between its start and its end takes"));
  CHECK(little[0].saved_s == 0.0);  // no other compute is independent
  std::string enough = "  %n = f32[4194304] negate(%q)\n";
  for (int i = 0; i < 60; ++i)
    enough += "  %n" + std::to_string(i) + " = f32[4194304] negate(%q)\n";
  CHECK(exposed(pair(enough)).empty());
}

}  // namespace
}  // namespace equarx::imports::audit_exposed_test
