#include "importers/hlo/audit_site.hpp"

#include "importers/hlo/hlo_step.hpp"
#include "tests/importers/hlo/audits.hpp"

namespace equarx::hlo::audit_site_test {
namespace {

TEST_CASE("collectives are found within asynchronous computations and fusions") {
  const std::string text = testing::hlo_text(
      "  %p = f32[64] parameter(0)\n"
      "  %s = ((f32[64]), f32[512], u32[]) async-start(%p), calls=%wrapped\n"
      "  %d = f32[512] async-done(%s)\n  ROOT %n = f32[512] negate(%d)\n",
      "%wrapped (x: f32[64]) -> f32[512] {\n  %x = f32[64] parameter(0)\n"
      "  ROOT %g = f32[512] all-gather(%x), dimensions={0}" +
          testing::kAllChips + "\n}\n");
  const Module module = parse_module(text);
  const Flow flow = make_flow(module);
  const std::vector<steps::ImportedCollective> collectives(flow.ops.size());
  const AuditInput input = audit_input(module, flow, collectives, text);
  REQUIRE(input.sites.size() == 1);
  const AuditSite& site = input.sites.front();
  CHECK(input.instruction(site).name == "g");
  CHECK(input.values.instruction(site.outer).name == "s");
  CHECK(site.chips() == 8);
  const Uses uses = input.values.uses(input.result(site, 0));
  REQUIRE(uses.users.size() == 1);
  CHECK(input.values.instruction(uses.users[0]).name == "n");
}

TEST_CASE("backends are recognized by their attributes") {
  const auto backend = [](const std::string& attributes) {
    return backend_of(testing::hlo_module(
        "  %p = f32[8] parameter(0)\n  ROOT %n = f32[8] negate(%p)" + attributes + "\n"));
  };
  CHECK(backend("") == Backend::tpu_or_unknown);
  CHECK(backend(", backend_config={\"outer_dimension_partitions\":[\"4\"]}") == Backend::cpu);
  CHECK(backend(", backend_config={\"operation_queue_id\":\"0\"}") == Backend::gpu);
}

TEST_CASE("groups are equal in any order of groups and members") {
  CollectiveOp a;
  CollectiveOp b;
  CHECK_FALSE(same_groups(a, b));  // unreadable
  a.groups = {{0, 1}, {2, 3}};
  b.groups = {{3, 2}, {0, 1}};
  CHECK(same_groups(a, b));
  b.groups = {{0, 2}, {1, 3}};
  CHECK_FALSE(same_groups(a, b));
}

}  // namespace
}  // namespace equarx::hlo::audit_site_test
