#include "models/numerics/kernels/error_sums.hpp"

#include <cmath>
#include <random>

#include "tests/models/numerics/codec/codecs.hpp"

namespace equarx::numerics::error_sums_test {
namespace {

using kernels::ErrorLanes;
using kernels::ErrorSums;

template <class Exact>
void add_slowly(const Floats& values, const std::vector<Exact>& exact, ErrorSums& sums) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::size_t lane = i % kernels::kErrorLanes;
    const double value = values[i];
    const double truth = exact[i];
    const double error = value - truth;
    sums.squared_error[lane] += error * error;
    sums.squared_exact[lane] += truth * truth;
    sums.squared_value[lane] += value * value;
    sums.product[lane] += value * truth;
    sums.signed_error[lane] += error;
    if (std::fabs(error) > sums.max_abs_error[lane]) sums.max_abs_error[lane] = std::fabs(error);
  }
}

bool same_lanes(const ErrorLanes& a, const ErrorLanes& b) {
  for (std::size_t lane = 0; lane < a.size(); ++lane) {
    const bool both_nan = std::isnan(a[lane]) && std::isnan(b[lane]);
    if (!both_nan && std::bit_cast<std::uint64_t>(a[lane]) != std::bit_cast<std::uint64_t>(b[lane]))
      return false;
  }
  return true;
}

void check_same(const ErrorSums& a, const ErrorSums& b) {
  REQUIRE(same_lanes(a.squared_error, b.squared_error));
  REQUIRE(same_lanes(a.squared_exact, b.squared_exact));
  REQUIRE(same_lanes(a.squared_value, b.squared_value));
  REQUIRE(same_lanes(a.product, b.product));
  REQUIRE(same_lanes(a.signed_error, b.signed_error));
  REQUIRE(same_lanes(a.max_abs_error, b.max_abs_error));
}

/// Adds twice, so that sums do not start at 0.
template <class Exact>
void check(const Floats& values, const std::vector<Exact>& exact) {
  ErrorSums expected;
  add_slowly(values, exact, expected);
  add_slowly(values, exact, expected);
  on_every_target([&] {
    ErrorSums sums;
    kernels::add_errors(values.data(), exact.data(), values.size(), sums);
    kernels::add_errors(values.data(), exact.data(), values.size(), sums);
    check_same(sums, expected);
  });
}

TEST_CASE("kernels add errors in the order of eight partial sums, with NaN and Inf") {
  std::mt19937 random(8);
  for (const std::size_t count : {0, 8, 16, 1000, 4096})
    for (const Kind kind : kKinds) {
      const Floats values = draw_many(kind, count, random);
      const Floats floats = draw_many(Kind::normal, count, random);
      std::vector<double> doubles;
      for (const float value : values) doubles.push_back(double{value} * 1.0001 + 1e-9);
      check(values, doubles);
      check(values, std::vector<float>(floats.begin(), floats.end()));
    }
}

}  // namespace
}  // namespace equarx::numerics::error_sums_test
