#include "experiments/step/activity.hpp"

#include "experiments/config/step_json.hpp"
#include "experiments/step/run.hpp"
#include "tests/catch.hpp"
#include "tests/support/steps.hpp"

namespace equarx::step::activity_test {
namespace {

using hardware::Activity;

constexpr std::size_t kBf16 = static_cast<std::size_t>(hardware::MatrixType::bf16);
constexpr std::size_t kInt8 = static_cast<std::size_t>(hardware::MatrixType::int8);
constexpr double kMiB = 1024.0 * 1024.0;

/// A step of these tasks on 16 chips, 1 s on each.
input::Json step_of(const char* tasks) {
  input::Json json = testing::good_step();
  json.erase("variants");
  json["step"]["tasks"] = input::Json::parse(tasks);
  return json;
}

/// Activity of the first variant, if it takes 1 s.
Activity activity(const input::Json& json) {
  const StepPlan plan = make_plan(config::read_step_config(json));
  const VariantPlan& variant = plan.variants.front();
  return activity_of(plan, variant, totals_of(variant.work, variant.machine), 1.0);
}

VariantResult run(const input::Json& json) {
  return run_step(make_plan(config::read_step_config(json)), [](const std::string&) {})
      .runs.front();
}

TEST_CASE("operations of all chips are counted by type") {
  const Activity counted = activity(step_of(R"([
    {"name": "one", "compute": {"flops": 2e10, "vector_ops": 3e6, "hbm_bytes": "1 MiB", "times": 5}},
    {"name": "two", "compute": {"flops": 7e9, "products": "int8", "comparisons": 1e6}}])"));
  CHECK(counted.time_s == 16.0);
  CHECK(counted.matrix_ops[kBf16] == Approx(16.0 * 5.0 * 2e10));
  CHECK(counted.matrix_ops[kInt8] == Approx(16.0 * 7e9));
  CHECK(counted.vector_ops == Approx(16.0 * (5.0 * 3e6 + 1e6)));
  CHECK(counted.hbm_bytes == Approx(16.0 * 5.0 * kMiB));
  CHECK(counted.vmem_bytes == Approx(2.0 * counted.hbm_bytes));
  CHECK(counted.link_bytes == 0.0);
}

TEST_CASE("the slower of matrix unit and HBM is busy, starts and vector operations are not") {
  const double rate = 197e12 * 0.95;
  const auto matrix_efficiency = [](input::Json json) {
    json["hardware"] = {
        {"based_on", "tpu-v5e"}, {"matrix_efficiency", 0.95}, {"hbm_efficiency", 1.0}};
    return json;
  };
  const Activity matrix = activity(matrix_efficiency(
      step_of(R"([{"name": "one", "compute": {"flops": 1e12, "vector_ops": 1e12}}])")));
  CHECK(matrix.busy_s == Approx(16.0 * 1e12 / rate));
  const Activity hbm = activity(matrix_efficiency(
      step_of(R"([{"name": "one", "compute": {"flops": 1e6, "hbm_bytes": "819 MB"}}])")));
  CHECK(hbm.busy_s == Approx(16.0 * 1e-3));
}

TEST_CASE("a task given as a time is busy, with unknown operations") {
  const Activity counted = activity(step_of(R"([{"name": "one", "compute": {"time": "2 ms"}}])"));
  CHECK(counted.busy_s == Approx(16.0 * 2e-3));
  CHECK(counted.given_s == Approx(16.0 * 2e-3));
}

TEST_CASE("transfers to and from the host pass HBM") {
  const Activity counted =
      activity(step_of(R"([{"name": "one", "host": {"direction": "to-host", "bytes": "1 MiB"}}])"));
  CHECK(counted.host_bytes == Approx(16.0 * kMiB));
  CHECK(counted.hbm_bytes == Approx(16.0 * kMiB));
}

TEST_CASE("an AllReduce in rings of four sends 3/2 of its bytes from every chip") {
  const Activity counted = activity(step_of(
      R"([{"name": "sum {i}", "repeat": 3,
           "collective": {"kind": "all-reduce", "axes": ["data"], "bytes": "4 MiB"}}])"));
  CHECK(counted.link_bytes == Approx(3.0 * 16.0 * 1.5 * 4.0 * kMiB).epsilon(1e-6));
  // Every element is read once and written once.
  CHECK(counted.hbm_bytes == Approx(3.0 * 16.0 * 2.0 * 4.0 * kMiB));
  CHECK(counted.vector_ops >= 3.0 * 16.0 * 0.75 * 2.0 * kMiB);  // additions of 3/4 of its elements
  CHECK(counted.matrix_ops[kBf16] == 0.0);
}

TEST_CASE("only the chips of a task have its work") {
  const Activity counted =
      activity(step_of(R"([{"name": "one", "compute": {"flops": 1e10}, "chips": [0, 3, 5]}])"));
  CHECK(counted.matrix_ops[kBf16] == Approx(3e10));
  CHECK(counted.time_s == 16.0);
}

TEST_CASE("representative chips have the activity of all chips") {
  for (const std::string buffers : {"vmem", "hbm"}) {
    input::Json json = testing::good_step();
    json["wire_buffers"] = buffers;
    const Activity few = activity(json);
    json["simulation"] = "full";
    const Activity all = activity(json);
    for (double Activity::*const amount :
         {&Activity::busy_s, &Activity::vector_ops, &Activity::hbm_bytes, &Activity::vmem_bytes,
          &Activity::link_bytes, &Activity::host_bytes, &Activity::given_s})
      CHECK(few.*amount == Approx(all.*amount).epsilon(1e-9));
    CHECK(few.matrix_ops[kBf16] == Approx(all.matrix_ops[kBf16]));
    CHECK(few.link_bytes > 0.0);
  }
}

TEST_CASE("DMAs between HBMs add to the HBM bytes, and are not counted as links") {
  input::Json json = step_of(
      R"([{"name": "compute", "compute": {"flops": 1e6, "hbm_bytes": "8 MiB"}},
          {"name": "sum",
           "collective": {"kind": "all-reduce", "axes": ["data"], "bytes": "4 MiB"}}])");
  const Activity vmem = activity(json);
  json["wire_buffers"] = "hbm";
  const Activity hbm = activity(json);
  CHECK(hbm.link_bytes == Approx(vmem.link_bytes));
  // Each byte on a link is read from one HBM and written to another.
  CHECK(hbm.hbm_bytes >= vmem.hbm_bytes + 2.0 * vmem.link_bytes);
}

TEST_CASE("bytes between slices are those of the network") {
  input::Json json = step_of(
      R"([{"name": "sum", "collective": {"kind": "all-reduce", "axes": ["data"], "bytes": "4 MiB"}}])");
  json["topology"] = input::Json::parse(
      R"({"torus": "2x2", "network": {"slices": 4, "bandwidth": "25 GB/s", "latency": "5 us"}})");
  const Activity counted = activity(json);
  CHECK(counted.network_bytes > 0.0);
  CHECK(counted.link_bytes == 0.0);
}

TEST_CASE("a step on an ideal chip costs its price, and its powers") {
  input::Json json =
      step_of(R"([{"name": "one", "compute": {"flops": 1e12, "hbm_bytes": "1 MiB"}}])");
  json["hardware"] = {{"based_on", "tpu-v5e"},
                      {"price", "$3.60/h"},
                      {"power_idle", "50 W"},
                      {"power_busy", "150 W"}};
  const VariantResult result = run(json);
  const double busy_s = activity(json).busy_s;
  CHECK(result.expenses.dollars.value() == Approx(16.0 * result.time_s * 1e-3));
  CHECK(result.expenses.energy->joules == Approx(50.0 * 16.0 * result.time_s + 100.0 * busy_s));
  json["hardware"]["price"] = "$36/h";
  CHECK(run(json).expenses.dollars.value() == Approx(16.0 * result.time_s * 1e-2));
}

TEST_CASE("a chip without price and powers has no expenses") {
  input::Json json = step_of(R"([{"name": "one", "compute": {"flops": 1e12}}])");
  json["hardware"] = "tpu-v7";
  json["topology"] = input::Json::parse(R"({"torus": "4x4"})");
  const VariantResult result = run(json);
  CHECK_FALSE(result.expenses.dollars);
  CHECK_FALSE(result.expenses.energy);
}

}  // namespace
}  // namespace equarx::step::activity_test
