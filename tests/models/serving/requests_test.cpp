#include "models/serving/requests.hpp"

#include <cmath>

#include "tests/catch.hpp"

namespace equarx::serving::requests_test {
namespace {

double mean_of(const std::vector<Request>& requests, std::uint64_t Request::*length) {
  double sum = 0.0;
  for (const Request& request : requests) sum += static_cast<double>(request.*length);
  return sum / static_cast<double>(requests.size());
}

TEST_CASE("Poisson arrivals have the rate, and gaps as long as they vary") {
  const std::vector<Request> requests = draw({.requests = 100'000, .rate = 4.0});
  double previous_s = 0.0;
  double squares = 0.0;
  for (const Request& request : requests) {
    CHECK(request.arrival_s >= previous_s);
    const double gap = request.arrival_s - previous_s;
    squares += gap * gap;
    previous_s = request.arrival_s;
  }
  CHECK(requests.back().arrival_s == Approx(25'000).epsilon(0.01));
  CHECK(squares / 100'000.0 == Approx(2.0 / 16.0).epsilon(0.02));  // of an exponential: 2 / rate^2
}

TEST_CASE("regular arrivals are equally far apart") {
  const std::vector<Request> requests =
      draw({.requests = 5, .rate = 4.0, .arrivals = Arrivals::regular});
  for (std::size_t i = 0; i < 5; ++i)
    CHECK(requests[i].arrival_s == Approx(0.25 * static_cast<double>(i + 1)));
}

TEST_CASE("requests of a concurrency arrive at 0") {
  for (const Request& request : draw({.requests = 10, .concurrency = 2}))
    CHECK(request.arrival_s == 0.0);
}

TEST_CASE("lengths have the moments of their distribution") {
  const Load load{.requests = 100'000,
                  .prompt = {.kind = LengthKind::lognormal, .mean = 1000.0, .cv = 0.5},
                  .output = {.kind = LengthKind::uniform, .least = 10, .most = 30}};
  const std::vector<Request> requests = draw(load);
  CHECK(mean_of(requests, &Request::prompt) == Approx(1000).epsilon(0.01));
  CHECK(mean_of(requests, &Request::output) == Approx(20).epsilon(0.01));
  double squares = 0.0;
  for (const Request& request : requests) {
    squares += std::pow(static_cast<double>(request.prompt) - 1000.0, 2);
    REQUIRE(request.output >= 10);
    REQUIRE(request.output <= 30);
  }
  CHECK(std::sqrt(squares / 100'000.0) == Approx(500).epsilon(0.02));
}

TEST_CASE("lengths are limited, and at least one token") {
  const Load load{
      .requests = 1000,
      .prompt = {.kind = LengthKind::lognormal, .mean = 100.0, .cv = 3.0, .least = 50, .most = 200},
      .output = {.kind = LengthKind::lognormal, .mean = 1.0, .cv = 2.0}};
  for (const Request& request : draw(load)) {
    REQUIRE(request.prompt >= 50);
    REQUIRE(request.prompt <= 200);
    REQUIRE(request.output >= 1);
  }
}

TEST_CASE("a request depends on the seed and its position alone") {
  const Load load{.requests = 10,
                  .rate = 1.0,
                  .prompt = {.kind = LengthKind::lognormal, .mean = 1000.0, .cv = 0.5}};
  Load longer = load;
  longer.requests = 20;
  Load other = load;
  other.seed = 2;
  const auto requests = draw(load);
  const auto more = draw(longer);
  for (std::size_t i = 0; i < requests.size(); ++i) {
    CHECK(requests[i].prompt == more[i].prompt);
    CHECK(requests[i].arrival_s == more[i].arrival_s);
  }
  CHECK(requests[0].prompt != draw(other)[0].prompt);
}

TEST_CASE("listed requests are returned as they are") {
  const Load load{.requests = 5, .listed = {{.arrival_s = 1.0, .prompt = 2, .output = 3}}};
  REQUIRE(draw(load).size() == 1);
  CHECK(draw(load)[0].output == 3);
}

TEST_CASE("prefixes are drawn equally often, or as in Zipf's law") {
  Load load{.requests = 60'000, .prompt = {.mean = 100.0}};
  const auto shares = [&] {
    std::vector<double> counted(load.prefixes->count, 0.0);
    for (const Request& request : draw(load)) counted.at(request.prefix) += 1.0 / 60'000;
    return counted;
  };
  load.prefixes = {.count = 4, .tokens = 30};
  for (const double share : shares()) CHECK(share == Approx(0.25).epsilon(0.03));
  load.prefixes->zipf = 1.0;  // weights 1, 1/2, 1/3, 1/4
  const std::vector<double> drawn = shares();
  for (std::size_t k = 0; k < 4; ++k)
    CHECK(drawn[k] == Approx(12.0 / 25.0 / static_cast<double>(k + 1)).epsilon(0.03));
}

TEST_CASE("a prefix is no longer than its prompt, and changes nothing else") {
  Load load{.requests = 100,
            .rate = 1.0,
            .prompt = {.kind = LengthKind::uniform, .least = 10, .most = 50}};
  const std::vector<Request> without = draw(load);
  load.prefixes = {.count = 3, .tokens = 30};
  const std::vector<Request> with = draw(load);
  for (std::size_t i = 0; i < with.size(); ++i) {
    CHECK(with[i].prompt == without[i].prompt);
    CHECK(with[i].arrival_s == without[i].arrival_s);
    CHECK(with[i].prefix_tokens == std::min<std::uint64_t>(30, with[i].prompt));
    CHECK(without[i].prefix_tokens == 0);
  }
}

}  // namespace
}  // namespace equarx::serving::requests_test
