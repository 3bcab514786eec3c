#include "experiments/capacity/metrics.hpp"

#include "base/input/json.hpp"
#include "tests/catch.hpp"
#include "tests/experiments/capacity/requests.hpp"

namespace equarx::capacity::metrics_test {
namespace {

template <typename Object>
input::Json json_of(const result::Metrics<Object>& metrics, const Object& object) {
  input::Json json;
  result::add_metrics(metrics, object, json);
  return json;
}

TEST_CASE("one chip has no AllReduces, and no price is null") {
  const Request request = testing::small_request();
  Candidate one{.machine = machines_of("tpu-v6e", {1})[0],
                .formats = {},
                .tokens = 512,
                .estimate = {.sequences = 3, .tpot_s = 0.01, .requests_per_s = 2.0},
                .memory = {.weights = 10.4}};
  CHECK(json_of(choice_metrics(), {one.machine, one.formats}).at("collective").is_null());
  const input::Json json = json_of(candidate_metrics(), {request, one});
  CHECK(json.at("dollars_per_million_tokens").is_null());
  CHECK(json.at("weights_bytes") == 10);
  CHECK(json.at("output_tokens_per_s_per_chip") == 2.0 * 64);
  CHECK_FALSE(json_of(ranked_metrics(), {request, one}).contains("requests_per_s_low"));
  one.machine = machines_of("tpu-v6e", {4})[0];
  CHECK(json_of(choice_metrics(), {one.machine, one.formats}).at("collective") == "bf16");
}

TEST_CASE("the limits of a request are in its JSON") {
  const input::Json json = json_of(request_metrics(), testing::small_request());
  CHECK(json.at("isl") == 512);
  CHECK(json.at("tpot_s") == 0.05);
}

}  // namespace
}  // namespace equarx::capacity::metrics_test
