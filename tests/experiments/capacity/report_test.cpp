#include "experiments/capacity/report.hpp"

#include "base/input/json.hpp"
#include "base/input/schema.hpp"
#include "tests/catch.hpp"
#include "tests/experiments/capacity/requests.hpp"

namespace equarx::capacity::report_test {
namespace {

/// An answer with one candidate and one obstacle.
Plan answer() {
  Plan plan{.request = testing::small_request()};
  plan.request.requests_per_s = 25.0;
  Candidate candidate{.machine = machines_of("tpu-v6e", {4})[0],
                      .formats = {"zeroquant", "bf16", "int8"},
                      .tokens = 2048,
                      .estimate = {.sequences = 40, .tpot_s = 0.04, .requests_per_s = 12.0},
                      .memory = {},
                      .points = {{.requests_per_s = 10.0,
                                  .ttft_s = 0.5,
                                  .tpot_s = 0.045,
                                  .output_tokens_per_s = 640.0,
                                  .tokens_per_s_per_user = 23.0,
                                  .utilization = 0.9}},
                      .errors = {.weights_nmse = 1e-4, .kv_nmse = 0.0, .sums_nmse = 1e-2},
                      .dollars_per_hour = 5.0};
  plan.ranked = {candidate};
  plan.estimated = {candidate};
  plan.estimated.front().points.clear();
  plan.obstacles = {{machines_of("tpu-v6e", {1})[0], {}, "does not fit"}};
  plan.sensitivities = {{"hbm_bandwidth", 0.08}};
  plan.spread = 0.26;
  plan.ranked.front().interval = {8.0, 12.0};
  return plan;
}

TEST_CASE("the text has the candidates, their cost, the fleet and what is out") {
  const std::string text = to_text(answer());
  for (const char* part :
       {"4 x tpu-v6e", "zeroquant", "160", "2.17", "40.0 dB", "3 replicas, 12 chips", "$15.00/h",
        "hbm_bandwidth +8", "128 to 192 tok/s/chip (68 %)", "latencies and rates of served loads",
        "1 x tpu-v6e: bf16 does not fit", "perplexity grows"})
    CHECK_THAT(text, ContainsSubstring(part));
}

TEST_CASE("nothing within the limits is an answer") {
  Plan plan = answer();
  plan.ranked.clear();
  CHECK_THAT(to_text(plan), ContainsSubstring("Nothing meets the limits"));
}

TEST_CASE("the JSON has the configuration to serve") {
  const input::Json json = to_json(answer());
  const input::Json& one = json.at("ranked").at(0);
  CHECK(config::read_serving(one.at("config")).pool.chips() == 4);
  CHECK(one.at("dollars_per_million_tokens").get<double>() == Approx(5.0 / 3600 / 640 * 1e6));
  CHECK(one.at("points").size() == 1);
  CHECK(one.at("requests_per_s_low") == 8.0);
  CHECK_FALSE(json.at("estimated").at(0).contains("requests_per_s_low"));
  CHECK(json.at("obstacles").at(0).at("reason") == "does not fit");
}

TEST_CASE("the JSON is as its schema says") {
  input::Json json = to_json(answer());
  CHECK_NOTHROW(input::check_schema(json, "plan"));
  Plan nothing = answer();
  nothing.ranked.clear();
  nothing.spread.reset();
  CHECK_NOTHROW(input::check_schema(to_json(nothing), "plan"));
  json["ranked"][0]["points"][0].erase("ttft_s");
  CHECK_THROWS(input::check_schema(json, "plan"));
}

}  // namespace
}  // namespace equarx::capacity::report_test
