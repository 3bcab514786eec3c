#include "experiments/sweep/point_summary.hpp"

#include "base/input/json.hpp"
#include "tests/catch.hpp"
#include "tests/support/configs.hpp"
#include "tests/support/steps.hpp"

namespace equarx::sweep::point_summary_test {
namespace {

TEST_CASE("a summary has machine, tensor, and how each collective is quantized") {
  const PointSummary summary = summary_of(config::read_any_config(
      testing::changed(testing::good_config(), "/hardware",
                       R"({"based_on": "tpu-v5e", "link_bandwidth": "90 GB/s"})")));
  REQUIRE(summary.machine_and_tensor.size() == 3);
  CHECK(summary.machine_and_tensor[0] == Field{"hardware", "tpu-v5e (link_bandwidth 90 GB/s)"});
  CHECK(summary.machine_and_tensor[1] == Field{"topology", "slice 4x2"});
  CHECK(summary.machine_and_tensor[2].path == "tensor_bytes");
  REQUIRE(summary.collectives.size() == 2);
  CHECK(summary.collectives[0].label == "bf16");
  CHECK(summary.collectives[0].fields == std::vector<Field>{{"format", "bf16"}});
  CHECK(summary.collectives[1].fields ==
        std::vector<Field>{{"format", "int8"}, {"quantize", "both"}});
}

TEST_CASE("a step has no tensor and no collectives of its own") {
  const PointSummary summary = summary_of(config::read_any_config(testing::good_step()));
  CHECK(summary.machine_and_tensor.size() == 2);
  CHECK(summary.collectives.empty());
}

}  // namespace
}  // namespace equarx::sweep::point_summary_test
