#include "experiments/step/bounds.hpp"

#include "experiments/config/step_json.hpp"
#include "tests/catch.hpp"
#include "tests/support/steps.hpp"

namespace equarx::step::bounds_test {
namespace {

double bound_s(const input::Json& json) {
  const StepPlan plan = make_plan(config::read_step_config(json));
  const VariantPlan& variant = plan.variants.front();
  return lower_bound_s(plan, variant, totals_of(variant.work, variant.machine));
}

TEST_CASE("the bound covers the longest path, the core, and the busiest link") {
  using testing::changed;
  using testing::good_step;
  // Five milliseconds of compute in sequence.
  CHECK(bound_s(changed(good_step(), "/step/tasks/1/compute", R"({"time": "1 ms"})")) >= 5e-3);
  // Four AllReduces on four chips: 2 x 3/4 of 1 GiB each, in both directions at 45 GB/s at most.
  const double bytes = 4 * 1.5 * (1 << 30) / 2;
  CHECK(bound_s(changed(good_step(), "/step/tasks/2/collective/bytes", "1 GiB")) >= bytes / 45e9);
  // 15 GB over PCIe.
  CHECK(bound_s(changed(good_step(), "/step/tasks/3/host/bytes", "15 GB")) > 0.9);
}

}  // namespace
}  // namespace equarx::step::bounds_test
