#include "importers/hlo/audit_schedule.hpp"

#include "tests/importers/hlo/audits.hpp"

namespace equarx::hlo::audit_schedule_test {
namespace {

using imports::AuditChange;
using imports::AuditedSchedule;
using imports::AuditRule;
using testing::findings_of;
using testing::kAllChips;

/// HBM bytes of the operations of the entry between the ends of a collective, and without
/// dependencies.
struct Bytes {
  bool waits = false;
  double between = 0.0;
  double independent = 0.0;
};

std::vector<Bytes> schedules(const std::string& lines) {
  const imports::ImportedProgram program = testing::audited_program(testing::hlo_text(lines));
  const imports::ProgramAudit& audit = program.audit.value();
  std::vector<Bytes> made;
  for (const AuditedSchedule& schedule : audit.schedules) {
    Bytes bytes{.waits = schedule.waits};
    const std::vector<workloads::Operation>& work = audit.work.at(schedule.computation);
    REQUIRE(schedule.independent.size() == work.size());
    for (std::size_t i = 0; i < work.size(); ++i) {
      if (i >= schedule.first_between && i < schedule.end_between)
        bytes.between += work[i].hbm_bytes();
      if (schedule.independent[i]) bytes.independent += work[i].hbm_bytes();
    }
    made.push_back(bytes);
  }
  return made;
}

TEST_CASE("compute between start and end, and compute without dependencies, are counted") {
  const auto made = schedules(
      "  %p = f32[1024] parameter(0)\n  %q = f32[2048] parameter(1)\n"
      "  %before = f32[1024] negate(%p)\n"
      "  %s = f32[1024] all-reduce-start(%before)" +
      kAllChips +
      ", to_apply=%add\n"
      "  %between = f32[2048] negate(%q)\n"
      "  %d = f32[1024] all-reduce-done(%s)\n"
      "  %after = f32[1024] negate(%d)\n"
      "  %late = f32[2048] negate(%between)\n"
      "  ROOT %t = (f32[1024], f32[2048]) tuple(%after, %late)\n");
  REQUIRE(made.size() == 1);
  CHECK_FALSE(made[0].waits);
  CHECK(made[0].between == 2 * 2048 * 4.0);
  CHECK(made[0].independent == 4 * 2048 * 4.0);
}

TEST_CASE("a synchronous collective has no compute between its ends") {
  const auto made = schedules("  %p = f32[1024] parameter(0)\n  %r = f32[1024] all-reduce(%p)" +
                              kAllChips + ", to_apply=%add\n  ROOT %n = f32[1024] negate(%r)\n");
  REQUIRE(made.size() == 1);
  CHECK(made[0].waits);
  CHECK(made[0].between == 0.0);
  CHECK(made[0].independent == 0.0);
}

std::string reduce(const std::string& name, const std::string& operand, int elements = 1024) {
  const std::string shape = "f32[" + std::to_string(elements) + "]";
  return "  %" + name + " = " + shape + " all-reduce(%" + operand + ")" + kAllChips +
         ", to_apply=%add\n";
}

TEST_CASE("neighbours over the same groups can be combined") {
  const auto found = findings_of(AuditRule::small,
                                 "  %p = f32[1024] parameter(0)\n  %q = f32[512] parameter(1)\n" +
                                     reduce("a", "p") + reduce("b", "q", 512) +
                                     "  ROOT %t = (f32[1024], f32[512]) tuple(%a, %b)\n");
  REQUIRE(found.size() == 1);
  CHECK(found[0].ops.size() == 2);
  REQUIRE(found[0].changes.size() == 1);
  CHECK(found[0].changes[0].kind == AuditChange::Kind::merge);
  CHECK(found[0].changes[0].group == "a");
  CHECK(found[0].changes[0].into == "b");
  CHECK(found[0].changes[0].bytes == 1536 * 4.0);
  CHECK_THAT(found[0].remedy, ContainsSubstring("--xla_gpu_all_reduce_combine_threshold_bytes"));
}

TEST_CASE("dependent, large and different collectives are not combined") {
  const std::string begin =
      "  %p = f32[1024] parameter(0)\n  %q = f32[1024] parameter(1)\n" + reduce("a", "p");
  const std::string end = "  ROOT %t = (f32[1024], f32[1024]) tuple(%a, %b)\n";
  CHECK(findings_of(AuditRule::small, begin + reduce("b", "a") + end).empty());
  // Its result is needed before the second begins.
  CHECK(findings_of(AuditRule::small,
                    begin + "  %n = f32[1024] negate(%a)\n" + reduce("b", "q") + end)
            .empty());
  CHECK(findings_of(AuditRule::small,
                    begin +
                        "  %b = f32[1024] all-reduce(%q), channel_id=2, "
                        "replica_groups={{0,1,2,3},{4,5,6,7}}, use_global_device_ids=true, "
                        "to_apply=%add\n" +
                        end)
            .empty());
  CHECK(findings_of(AuditRule::small,
                    "  %p = f32[8388608] parameter(0)\n  %q = f32[8388608] parameter(1)\n" +
                        reduce("a", "p", 8388608) + reduce("b", "q", 8388608) +
                        "  ROOT %t = (f32[8388608], f32[8388608]) tuple(%a, %b)\n")
            .empty());
}

}  // namespace
}  // namespace equarx::hlo::audit_schedule_test
