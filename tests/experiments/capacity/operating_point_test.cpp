#include "experiments/capacity/operating_point.hpp"

#include "tests/catch.hpp"
#include "tests/models/serving/served.hpp"

namespace equarx::capacity::operating_point_test {
namespace {

/// A queue with one server: requests of a single step of 0.1 s, and one more token.
serving::System queue() {
  return {
      .pool = {.served = serving::testing::served(serving::testing::constant(0.05)),
               .limits = {.sequences = 1, .tokens = 100}},
      .prefill = {},
      .load = {.requests = 4000, .rate = 1.0, .prompt = {.mean = 4.0}, .output = {.mean = 2.0}}};
}

Request limits(double ttft_s, double tpot_s) {
  Request request;
  request.output = 2;
  request.ttft_s = ttft_s;
  request.tpot_s = tpot_s;
  return request;
}

TEST_CASE("the largest rate meets the limit of TTFT, and 5 % more does not") {
  const Request request = limits(0.5, 1.0);
  const auto points = largest_rate(request, queue(), 10.0);
  REQUIRE_FALSE(points.empty());
  const OperatingPoint& largest = points.back();
  CHECK(largest.meets(request));
  CHECK(largest.requests_per_s < 10.0);  // each takes 0.1 s
  CHECK(largest.requests_per_s > 6.0);
  CHECK_FALSE(simulate_at(request, queue(), 1.05 * largest.requests_per_s).meets(request));
}

TEST_CASE("latency rises with the rate") {
  const Request request = limits(10.0, 10.0);
  double previous_s = 0.0;
  for (const double rate : {1.0, 5.0, 8.0, 9.5}) {
    const OperatingPoint point = simulate_at(request, queue(), rate);
    CHECK(point.ttft_s > previous_s);
    CHECK(point.tpot_s == Approx(0.05));
    CHECK(point.output_tokens_per_s == Approx(2.0 * rate));
    previous_s = point.ttft_s;
  }
}

TEST_CASE("a limit below the time of a step leaves no rate") {
  CHECK(largest_rate(limits(0.01, 1.0), queue(), 10.0).empty());
  CHECK(largest_rate(limits(1.0, 0.01), queue(), 10.0).empty());
}

}  // namespace
}  // namespace equarx::capacity::operating_point_test
