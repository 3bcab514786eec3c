#include "experiments/run/compared_values.hpp"

#include "experiments/run/source.hpp"
#include "tests/catch.hpp"
#include "tests/support/configs.hpp"

namespace equarx::run::compared_values_test {
namespace {

/// Plans and their inputs.
struct Inputs {
  plan::Plan plan = testing::plan_of(testing::good_config());
  values::TensorSource source = make_source(plan.config.tensor);
  std::vector<const plan::CollectivePlan*> plans = {&plan.collectives[0].candidates.front(),
                                                    &plan.collectives[1].candidates.front()};
};

TEST_CASE("values equal those of an experiment, in the order of the plans") {
  const Inputs inputs;
  const run::ExperimentResult result = testing::run(testing::good_config());
  std::vector<std::string> order;
  const auto values = compute_values(
      {.plans = inputs.plans,
       .baseline = 1,
       .tensor = inputs.plan.config.tensor,
       .source = inputs.source,
       .begin = [&](const plan::CollectivePlan& plan) { order.push_back(plan.config.label); }});
  REQUIRE(values.size() == 2);
  CHECK(order.front() == inputs.plans[1]->config.label);  // the baseline first
  for (std::size_t i = 0; i < values.size(); ++i)
    CHECK(values[i].against_exact.mse == result.runs[i].numerics->against_exact.mse);
  CHECK(values[1].against_baseline->mse == 0.0);
  CHECK(values[0].against_baseline->mse > 0.0);
}

TEST_CASE("without a comparison there are no errors relative to the baseline") {
  const Inputs inputs;
  const auto values = compute_values({.plans = inputs.plans,
                                      .tensor = inputs.plan.config.tensor,
                                      .source = inputs.source,
                                      .against_baseline = false});
  for (const values::ValueResult& one : values) CHECK_FALSE(one.against_baseline.has_value());
}

}  // namespace
}  // namespace equarx::run::compared_values_test
