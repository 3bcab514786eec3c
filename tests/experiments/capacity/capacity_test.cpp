#include "experiments/capacity/capacity.hpp"

#include <algorithm>
#include <set>
#include <string>

#include "base/input/errors.hpp"
#include "base/input/schema.hpp"
#include "experiments/capacity/report.hpp"
#include "experiments/serve/serve.hpp"
#include "tests/catch.hpp"
#include "tests/experiments/capacity/requests.hpp"
#include "tests/support/configs.hpp"

namespace equarx::capacity::capacity_test {
namespace {

using equarx::testing::TemporaryFile;
using testing::small_request;

TEST_CASE("the best candidate meets the limits, also as a configuration of its own") {
  const Request request = small_request();
  const Plan answer = plan(request, {.threads = 2});
  REQUIRE(answer.ranked.size() > 2);
  const Candidate& best = answer.ranked.front();
  for (const Candidate& one : answer.ranked) {
    CHECK(one.points.back().meets(request));
    CHECK(one.output_tokens_per_s_per_chip(request) <= best.output_tokens_per_s_per_chip(request));
    CHECK(one.requests_per_s() <= 1.01 * one.estimate.requests_per_s);
  }
  const serve::ServeResult served =
      serve::serve(config::read_serving(configuration(request, best)), {});
  CHECK(served.summary.ttft.p50 <= request.ttft_s);
  CHECK(served.summary.tpot.p90 <= 1.05 * request.tpot_s);
  CHECK_NOTHROW(input::check_schema(to_json(answer), "plan"));
  CHECK(std::ranges::all_of(answer.estimated,
                            [](const Candidate& one) { return one.points.empty(); }));
  CHECK_FALSE(answer.sensitivities.empty());
  CHECK(answer.spread.value_or(0.0) > 0.0);
  for (const Candidate& one : answer.ranked) {
    REQUIRE(one.interval);
    CHECK(one.interval->low < one.requests_per_s());
    CHECK(one.interval->high > one.requests_per_s());
  }
}

TEST_CASE("an answer does not depend on the number of threads") {
  const Request request = small_request();
  const Plan one = plan(request, {.threads = 1});
  const Plan two = plan(request, {.threads = 2});
  REQUIRE(one.ranked.size() == two.ranked.size());
  for (std::size_t i = 0; i < one.ranked.size(); ++i)
    CHECK(one.ranked[i].requests_per_s() == two.ranked[i].requests_per_s());
}

TEST_CASE("what does not fit, or has no unit, is listed with its reason") {
  Request request = small_request();
  request.model = "llama3.1-70b";
  request.chips = {"tpu-v5e"};
  request.sizes = {4};
  request.precisions = {"bf16", "fp8"};
  const Plan answer = plan(request, {});
  CHECK(answer.ranked.empty());
  CHECK(std::ranges::any_of(answer.obstacles, [](const Obstacle& one) {
    return one.reason.find("more than it has") != std::string::npos;
  }));
  CHECK(std::ranges::any_of(answer.obstacles,
                            [](const Obstacle& one) { return one.reason == "has no fp8 GEMMs"; }));
}

TEST_CASE("limits that nothing meets are reasons, too") {
  Request request = small_request();
  request.sizes = {1};
  request.tpot_s = 1e-4;
  Plan answer = plan(request, {});
  CHECK(answer.ranked.empty());
  REQUIRE_FALSE(answer.obstacles.empty());
  CHECK_THAT(answer.obstacles.front().reason, ContainsSubstring("a token takes"));
  request = small_request();
  request.sizes = {1};
  request.ttft_s = 1e-4;
  answer = plan(request, {});
  CHECK_THAT(answer.obstacles.front().reason, ContainsSubstring("a prompt takes"));
}

TEST_CASE("what fits with small steps only is served with small steps") {
  Request request = small_request();
  request.sizes = {1};
  request.chips = {"tpu-v5e"};
  request.precisions = {"bf16"};
  const auto steps_that_fit = [&](double gib) {
    const TemporaryFile chip(
        input::Json{{"based_on", "tpu-v5e"}, {"hbm_capacity", std::to_string(gib) + " GiB"}}
            .dump());
    request.chips = {chip.path()};
    std::set<std::uint64_t> tokens;
    for (const Candidate& one : plan(request, {}).estimated) tokens.insert(one.tokens);
    return tokens;
  };
  const std::set<std::uint64_t> all = {512, 2048, 8192};
  CHECK(steps_that_fit(40.0) == all);
  // 15 GiB of weights; activations of 8192 positions need more than the rest.
  CHECK(steps_that_fit(17.0) == std::set<std::uint64_t>{512, 2048});
  CHECK(steps_that_fit(16.0).empty());
}

TEST_CASE("prices decide the order, and scale the cost") {
  Request request = small_request();
  request.chips = {"tpu-v6e", "tpu-v5e"};
  request.sizes = {4};
  request.collectives = {"bf16"};
  request.precisions = {"bf16"};
  request.dollars_per_hour = {{"tpu-v6e", 100.0}, {"tpu-v5e", 0.01}};
  const Plan cheap = plan(request, {});
  REQUIRE(cheap.ranked.size() == 2);
  CHECK(cheap.ranked[0].machine.chip == "tpu-v5e");
  request.dollars_per_hour = {{"tpu-v6e", 0.01}, {"tpu-v5e", 100.0}};
  const Plan other = plan(request, {});
  CHECK(other.ranked[0].machine.chip == "tpu-v6e");
  CHECK(other.ranked[1].dollars_per_million(request).value() ==
        Approx(1e4 * cheap.ranked[0].dollars_per_million(request).value()));
  const Candidate& one = cheap.ranked[0];
  CHECK(one.dollars_per_million(request).value() ==
        Approx(4 * 0.01 / 3600 / one.points.back().output_tokens_per_s * 1e6));
}

TEST_CASE("sizes that no chip is offered in are refused") {
  Request request = small_request();
  request.sizes = {3};
  CHECK_THROWS_WITH(plan(request, {}), ContainsSubstring("--sizes"));
}

}  // namespace
}  // namespace equarx::capacity::capacity_test
