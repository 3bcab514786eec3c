#include "experiments/step/plan.hpp"

#include "base/input/json_text.hpp"
#include "experiments/config/step_json.hpp"
#include "tests/support/errors.hpp"
#include "tests/support/step_runs.hpp"
#include "tests/support/steps.hpp"

namespace equarx::step::plan_test {
namespace {

using testing::changed;
using testing::good_step;
using testing::good_training;

StepPlan plan(const input::Json& json) { return make_plan(config::read_step_config(json)); }

TEST_CASE("variants with equal collectives share the plan") {
  input::Json json = good_step();
  json["variants"].push_back({{"label", "plain"}});
  const StepPlan made = plan(json);
  REQUIRE(made.variants.size() == 3);
  CHECK(made.variants[0].calls[0] == made.variants[2].calls[0]);
  CHECK(made.variants[0].calls[0] != made.variants[1].calls[0]);
}

TEST_CASE("a planner plans variants one by one, and reports infeasible collectives") {
  const config::StepConfig config = config::read_step_config(good_step());
  Planner planner(config);
  CHECK(planner.step().variants.empty());
  const VariantPlan plain = planner.variant(config.variants[0]);
  CHECK(planner.variant(config.variants[0]).calls == plain.calls);
  CHECK(plain.calls.front()->core_s > 0.0);
  CHECK(plain.calls.front()->core_s <= plain.calls.front()->isolated_s);
  config::CollectiveConfig unfit = config.variants[0].collectives.front();
  unfit.algorithm = collectives::find_algorithm("hierarchical");
  CHECK_FALSE(planner.call({0, unfit}));
  config::StepVariant variant = config.variants[0];
  variant.collectives.front() = unfit;
  testing::check_refused([&] { planner.variant(variant); }, "/variants", "bucket: ");
}

TEST_CASE("a planner keeps the times of plans that nothing holds") {
  const config::StepConfig config = config::read_step_config(good_step());
  Planner planner(config);
  std::vector<CallRequest> requests;
  for (const config::StepVariant& variant : config.variants)
    requests.push_back({0, variant.collectives.front()});
  CallRequest unfit = requests.front();
  unfit.collective.algorithm = collectives::find_algorithm("hierarchical");
  requests.push_back(unfit);
  planner.prepare_times(requests, 2);
  CHECK_FALSE(planner.times(unfit));
  CHECK(planner.times(unfit).error().text() == planner.call(unfit).error().text());
  requests.pop_back();
  for (const CallRequest& request : requests) {
    const Planner::ExpectedTimes times = planner.times(request);
    REQUIRE(times);
    const Planner::ExpectedCall call = planner.call(request);
    CHECK(times->isolated_s == (*call)->isolated_s);
    CHECK(times->core_s == (*call)->core_s);
    CHECK(*planner.call(request) == *call);
  }
}

TEST_CASE("between slices, one chip each, auto tries algorithms through the network") {
  const StepPlan made = plan(input::parse_json(R"({
    "hardware": "tpu-v5e",
    "topology": {"ring": 8, "network": {"slices": 2, "bandwidth": "1 GB/s", "latency": "1 us"}},
    "mesh": {"x": {"length": 2}, "y": 8},
    "step": {"tasks": [{"name": "sum", "collective":
      {"kind": "reduce-scatter", "bytes": "1 KiB", "axes": ["x"]}}]},
    "variants": [{"label": "plain"}, {"label": "auto", "quantize": [{"algorithm": "auto"}]}]})"));
  REQUIRE(made.variants.size() == 2);
  CHECK(made.variants[1].calls.front()->isolated_s > 0.0);
}

TEST_CASE("between slices, one chip each, a ring takes the time of its bytes and hops") {
  const input::Json json = input::parse_json(R"({
    "hardware": "h100",
    "topology": {"fully-connected": 2, "network": {"slices": 8, "bandwidth": "1 GB/s", "latency": "10 us"}},
    "mesh": {"data": 8, "fsdp": 2},
    "step": {"tasks": [{"name": "sum", "collective": {"kind": "all-reduce", "bytes": "8 MiB", "axes": ["data"]}}]},
    "variants": [{"label": "bf16", "quantize": [{"format": "bf16", "algorithm": "ring"}]},
                 {"label": "int8", "quantize": [{"format": "int8", "algorithm": "equarx"}]}]})");
  const double bytes_s = 2.0 * 7.0 / 8.0 * 8.0 * 1024 * 1024 / 1e9;
  for (const std::string engine : {"direct", "simgrid"}) {
    const StepResult result = testing::run_step(changed(json, "/engine", engine));
    const double ring_s = result.runs[0].time_s;
    CHECK(ring_s == Approx(bytes_s + 10e-6).epsilon(0.01));  // tiles overlap with all hops but one
    CHECK(result.runs[1].time_s < 0.54 * ring_s);
    const input::Json late =
        changed(changed(json, "/engine", engine), "/topology/network/latency", "1 ms");
    const StepResult small =
        testing::run_step(changed(late, "/step/tasks/0/collective/bytes", "8 KiB"));
    CHECK(small.runs[0].time_s == Approx(14e-3).epsilon(0.02));
  }
  const std::string both = R"(["data", "fsdp"])";
  testing::check_refused([&] { plan(changed(json, "/step/tasks/0/collective/axes", both)); },
                         "/variants", "does not run across a network");
}

TEST_CASE("core time of tasks") {
  const StepPlan made = plan(good_step());
  CHECK(made.core_s[0] == Approx(1e-3));
  CHECK(made.core_s[1] > 2e10 / 197e12);
  CHECK(made.core_s[5] == 0.0);  // a collective
}

TEST_CASE("unsupported operations and transfers are rejected") {
  testing::check_refused(
      [] { plan(changed(good_step(), "/step/tasks/1/compute/products", "fp8")); }, "/step",
      "the fp8 GEMM rate of the chip is unspecified");
  config::StepConfig no_host = config::read_step_config(good_step());
  no_host.machine.chip.host_bandwidth.value = 0.0;  // unspecified, as in a custom chip
  testing::check_refused([&] { make_plan(no_host); }, "/hardware", "add \"host_bandwidth\"");
  input::Json large = changed(good_training(), "/step/training/batch", "8192");
  CHECK_NOTHROW(plan(large));
  large["memory"] = "refuse";
  testing::check_refused([&] { plan(large); }, "/step/training", "does not fit: each chip needs");
}

}  // namespace
}  // namespace equarx::step::plan_test
