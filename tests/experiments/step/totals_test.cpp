#include "experiments/step/totals.hpp"

#include "experiments/config/step_json.hpp"
#include "experiments/step/plan.hpp"
#include "experiments/step/timing.hpp"
#include "tests/catch.hpp"
#include "tests/support/steps.hpp"

namespace equarx::step::totals_test {
namespace {

TEST_CASE("totals are those of the simulation of all tasks") {
  for (const std::string buffers : {"vmem", "hbm"})
    for (const char* const topology : {R"({"torus": "4x4"})", R"({"mesh": "4x4"})"}) {
      CAPTURE(buffers, topology);
      input::Json json = testing::changed(testing::good_step(), "/topology", topology);
      json["wire_buffers"] = buffers;
      const StepPlan plan = make_plan(config::read_step_config(json));
      for (const VariantPlan& variant : plan.variants) {
        const StepTotals totals = totals_of(variant.work, variant.machine);
        const sim::TimeResult time = simulate(plan, variant);
        CHECK(totals.link_bytes == time.link_bytes);
        CHECK(totals.messages == time.messages);
        for (std::size_t rank = 0; rank < totals.core_s.size(); ++rank)
          CHECK(totals.core_s[rank] <= time.core_busy_s[rank] * (1.0 + 1e-9));
      }
    }
}

}  // namespace
}  // namespace equarx::step::totals_test
