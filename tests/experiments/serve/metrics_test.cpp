#include "experiments/serve/metrics.hpp"

#include <algorithm>
#include <string>

#include "base/input/schema.hpp"
#include "tests/catch.hpp"
#include "tests/support/served.hpp"

namespace equarx::serve::metrics_test {
namespace {

using testing::served_config;
using testing::TemporaryFile;
using testing::tiny_model;

ServeResult served(const input::Json& json) { return serve(config::read_serving(json), {}); }

TEST_CASE("results are valid by their schema, with and without requests, prefill and intervals") {
  const TemporaryFile model(tiny_model().dump());
  input::Json json = served_config(model.path(), "1x1");
  input::Json apart = json;
  apart["serving"]["prefill"] = {{"bandwidth", "1 GB/s"}};
  input::Json uncertain = json;
  uncertain["uncertainty"] = {{"samples", 10}, {"seed", 3}};
  for (const input::Json& config : {json, apart, uncertain}) {
    const ServeResult result = served(config);
    for (const bool requests : {false, true})
      CHECK_NOTHROW(input::check_schema(to_json(result, requests), "served"));
    CHECK(to_json(result, false).contains("uncertainty") == result.intervals.has_value());
    CHECK(to_json(result, false).contains("prefill") == result.outcome.prefill_totals.has_value());
    CHECK(config::to_json(config::read_serving(to_json(result, false)["config"])) ==
          to_json(result, false)["config"]);
  }
}

TEST_CASE("metrics of a result agree with its requests") {
  const TemporaryFile model(tiny_model().dump());
  const input::Json json = to_json(served(served_config(model.path(), "2x2")), true);
  CHECK(json["requests"] == 40);
  REQUIRE(json["requests_list"].size() == 40);
  double ttft = 0.0;
  double latency = 0.0;
  double decodes = 0.0;
  double last = 0.0;
  for (const input::Json& request : json["requests_list"]) {
    ttft += request["ttft_s"].get<double>();
    latency += request["latency_s"].get<double>();
    decodes += request["decodes_s"].get<double>();
    last = std::max(last, request["arrival_s"].get<double>() + request["latency_s"].get<double>());
    CHECK(request["prompt"] == 100);
    CHECK(request["output"] == 20);
    CHECK(request["tpot_s"].get<double>() * 19 ==
          Approx(request["latency_s"].get<double>() - request["ttft_s"].get<double>()));
  }
  CHECK(json["ttft"]["mean_s"].get<double>() == Approx(ttft / 40));
  CHECK(json["latency"]["mean_s"].get<double>() == Approx(latency / 40));
  CHECK(json["latency_share"]["decodes"].get<double>() == Approx(decodes / latency));
  CHECK(json["time_s"].get<double>() == Approx(last));
  CHECK(json["output_tokens_per_s_per_chip"].get<double>() ==
        Approx(json["output_tokens_per_s"].get<double>() / 4));
  double shares = 0.0;
  for (const auto& [state, share] : json["latency_share"].items()) shares += share.get<double>();
  CHECK(shares == Approx(1.0));
}

TEST_CASE("rates that a load has not are absent") {
  const TemporaryFile model(tiny_model().dump());
  input::Json json = served_config(model.path(), "1x1");
  json["serving"]["load"].erase("requests_per_s");
  json["serving"]["load"]["concurrency"] = 2;
  const input::Json result = to_json(served(json), false);
  CHECK_FALSE(result.contains("offered_requests_per_s"));
  CHECK_FALSE(result.contains("capacity_requests_per_s"));
  CHECK_FALSE(result.contains("requests_list"));
}

TEST_CASE("states have names of their own") {
  CHECK(name(serving::State::waits_for_step) == "waits_for_step");
  CHECK(name(serving::State::decodes) == "decodes");
}

}  // namespace
}  // namespace equarx::serve::metrics_test
