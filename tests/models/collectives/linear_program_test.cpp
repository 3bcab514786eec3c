#include "models/collectives/linear_program.hpp"

#include <random>
#include <stdexcept>
#include <vector>

#include "tests/catch.hpp"

namespace equarx::linear_program_test {

using namespace equarx::collectives;

namespace {

double value(const LinearProgram& program, const std::vector<double>& at) {
  double sum = 0.0;
  for (std::size_t i = 0; i < at.size(); ++i) sum += program.objective[i] * at[i];
  return sum;
}

bool allowed(const LinearProgram& program, const std::vector<double>& at) {
  for (const double variable : at)
    if (variable < -1e-9) return false;
  for (std::size_t row = 0; row < program.rows.size(); ++row) {
    double sum = 0.0;
    for (std::size_t i = 0; i < at.size(); ++i) sum += program.rows[row][i] * at[i];
    if (sum > program.limits[row] + 1e-9) return false;
  }
  return true;
}

// Best value with two variables, over all intersections of two limits, or of a limit and an axis.
double best_corner(const LinearProgram& program) {
  auto lines = program.rows;
  auto limits = program.limits;
  for (const std::vector<double>& axis : {std::vector<double>{1, 0}, {0, 1}}) {
    lines.push_back(axis);
    limits.push_back(0.0);
  }
  double best = 0.0;
  for (std::size_t i = 0; i < lines.size(); ++i)
    for (std::size_t j = 0; j < i; ++j) {
      const double det = lines[i][0] * lines[j][1] - lines[i][1] * lines[j][0];
      if (std::abs(det) < 1e-12) continue;
      const std::vector<double> at = {(limits[i] * lines[j][1] - lines[i][1] * limits[j]) / det,
                                      (lines[i][0] * limits[j] - limits[i] * lines[j][0]) / det};
      if (allowed(program, at)) best = std::max(best, value(program, at));
    }
  return best;
}

}  // namespace

TEST_CASE("the solution is the best of all vertices") {
  std::mt19937 random(3);
  const auto number = [&](double from) {
    return std::uniform_real_distribution<double>(from, 1.0)(random);
  };
  for (int trial = 0; trial < 200; ++trial) {
    LinearProgram program{{number(-0.5), number(-0.5)}, {{1.0, 1.0}}, {1.0}};
    for (int row = 0; row < 4; ++row) {
      program.rows.push_back({number(-1.0), number(-1.0)});
      program.limits.push_back(trial % 2 == 0 ? number(0.0) : 0.0);  // many ties at 0
    }
    const std::vector<double> at = maximize(program).value();
    REQUIRE(at.size() == 2);
    CHECK(allowed(program, at));
    CHECK(value(program, at) == Approx(best_corner(program)).margin(1e-9));
  }
}

TEST_CASE("an example on which the usual choice of pivots cycles terminates") {
  // E. M. L. Beale, Cycling in the dual simplex algorithm, 1955: the best value is 1 / 20.
  const LinearProgram program{
      {0.75, -150.0, 0.02, -6.0},
      {{0.25, -60.0, -0.04, 9.0}, {0.5, -90.0, -0.02, 3.0}, {0.0, 0.0, 1.0, 0.0}},
      {0.0, 0.0, 1.0}};
  CHECK(value(program, maximize(program).value()) == Approx(0.05));
}

TEST_CASE("malformed or unbounded programs are refused") {
  CHECK_THROWS_AS(maximize({{1.0}, {{1.0}}, {}}), std::invalid_argument);
  CHECK_THROWS_AS(maximize({{1.0}, {{1.0, 1.0}}, {1.0}}), std::invalid_argument);
  CHECK_THROWS_AS(maximize({{1.0}, {{1.0}}, {-1.0}}), std::invalid_argument);
  CHECK_FALSE(maximize({{1.0, 1.0}, {{1.0, 0.0}}, {1.0}}).has_value());
}

}  // namespace equarx::linear_program_test
