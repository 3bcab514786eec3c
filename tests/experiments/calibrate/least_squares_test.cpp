#include "experiments/calibrate/least_squares.hpp"

#include <cmath>

#include "tests/catch.hpp"

namespace equarx::calibrate::least_squares_test {
namespace {

constexpr double kFar = 1e9;

/// a + b x at x = 0, 1, 2, 3.
std::vector<Outputs> line(const std::vector<Point>& points) {
  std::vector<Outputs> outputs;
  for (const Point& point : points) {
    CHECK(point[0] >= 0.0);  // never evaluated beyond its limits
    outputs.emplace_back();
    for (int x = 0; x < 4; ++x) outputs.back().push_back(point[0] + point[1] * x);
  }
  return outputs;
}

UnlimitedModel limited_line() {
  return {
      line,
      {{.scale = 1.0, .least = 0.0, .most = kFar}, {.scale = 1.0, .least = -kFar, .most = kFar}}};
}

void nothing(std::size_t /*iteration*/, double /*chi_squared*/) {}

TEST_CASE("a weighted line fit matches the closed form") {
  const Targets targets{.values = {1.0, 3.5, 4.0, 7.5}, .standard_errors = {1.0, 0.5, 2.0, 1.0}};
  // Normal equations of a straight line.
  double w = 0, wx = 0, wxx = 0, wy = 0, wxy = 0;
  for (int x = 0; x < 4; ++x) {
    const double weight = 1.0 / (targets.standard_errors[x] * targets.standard_errors[x]);
    w += weight;
    wx += weight * x;
    wxx += weight * x * x;
    wy += weight * targets.values[x];
    wxy += weight * x * targets.values[x];
  }
  const double slope = (w * wxy - wx * wy) / (w * wxx - wx * wx);
  const Fit found = fit(limited_line(), targets, {0.5, 0.5}, nothing);
  CHECK(found.converged);
  CHECK(found.point[1] == Approx(slope).epsilon(1e-6));
  CHECK(found.point[0] == Approx((wy - slope * wx) / w).epsilon(1e-6));
  CHECK(found.at_limit == std::vector{false, false});
  double chi_squared = 0.0;
  for (int x = 0; x < 4; ++x)
    chi_squared += std::pow(
        (found.point[0] + found.point[1] * x - targets.values[x]) / targets.standard_errors[x], 2);
  CHECK(found.chi_squared == Approx(chi_squared));
}

TEST_CASE("a parameter beyond its limit is fixed at it, and the others are refitted") {
  const Targets targets{.values = {-2.0, 1.0, 2.0, 3.0}, .standard_errors = {1.0, 1.0, 1.0, 1.0}};
  const Fit found = fit(limited_line(), targets, {0.5, 0.5}, nothing);
  CHECK(found.point[0] == 0.0);
  CHECK(found.at_limit == std::vector{true, false});
  CHECK(found.point[1] == Approx((1.0 + 4.0 + 9.0) / (1.0 + 4.0 + 9.0)));  // sum xy / sum xx
  // Unconstrained fit: variance of a is sum xx / (n sum xx - (sum x)^2).
  CHECK(found.error_beyond[0] == Approx(std::sqrt(14.0 / (4.0 * 14.0 - 36.0))).epsilon(1e-5));
}

/// Times of small messages over links with a latency and an efficiency; nearly independent of the
/// latter.
std::vector<Outputs> small_messages(const std::vector<Point>& points) {
  constexpr double kBytesTime = 1e-4;
  std::vector<Outputs> outputs;
  for (const Point& point : points)
    outputs.push_back({5.0 + 6.0 * point[0] + 1.0 * kBytesTime / point[1],
                       5.0 + 15.0 * point[0] + 1.9 * kBytesTime / point[1]});
  return outputs;
}

TEST_CASE("a weakly determined parameter stays within its limits if another explains the data") {
  const UnlimitedModel model(small_messages, {{.scale = 0.2, .least = 2e-4, .most = 200.0},
                                              {.scale = 1.0, .least = 1e-3, .most = 1.0}});
  const Outputs measured = small_messages({{0.3, 0.9}}).front();
  const Targets targets{.values = measured,
                        .standard_errors = {1e-3 * measured[0], 1e-3 * measured[1]}};
  const Fit found = fit(model, targets, {0.2, 0.97}, nothing);
  CHECK(found.chi_squared < 1.0);
  CHECK(found.point[0] == Approx(0.3).epsilon(1e-3));
  CHECK(found.at_limit == std::vector{false, false});
}

TEST_CASE("exceptions of a model propagate") {
  const UnlimitedModel model(
      [](const std::vector<Point>&) -> std::vector<Outputs> { throw std::runtime_error("no"); },
      {{.scale = 1.0, .least = 0.0, .most = 1.0}});
  CHECK_THROWS_WITH(fit(model, {{1.0}, {1.0}}, {0.5}, nothing), "no");
}

}  // namespace
}  // namespace equarx::calibrate::least_squares_test
