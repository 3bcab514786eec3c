#include "experiments/calibrate/kernel_groups.hpp"

#include <cmath>

#include "tests/catch.hpp"

namespace equarx::calibrate::kernel_groups_test {
namespace {

Measurement row(const std::string& group, double measured,
                hardware::ObservationRole role = hardware::ObservationRole::fit) {
  Measurement measurement;
  measurement.role = role;
  measurement.measured = measured;
  measurement.of = KernelTime{.operation = {}, .outside_s = 0.0, .group = group};
  return measurement;
}

TEST_CASE("kernels are grouped by kind and role") {
  CalibrationTask task;
  task.measurements = {row("gemm", 1.0), row("pass", 1.0), row("gemm", 1.0),
                       row("gemm", 1.0, hardware::ObservationRole::check)};
  task.measurements.emplace_back();  // a simulated number
  const double e = std::exp(1.0);
  const std::vector<CalibrationRow> rows = {{e, 0}, {1.0, 0}, {1.0 / (e * e), 0}, {2.0, 0}, {9, 0}};
  const std::vector<KernelGroup> groups = kernel_groups(task, rows);
  REQUIRE(groups.size() == 3);
  CHECK(groups[0].what == "gemm");
  CHECK(groups[0].rows == 2);
  CHECK(groups[0].bias == Approx(-0.5));
  CHECK(groups[0].rms == Approx(std::sqrt(2.5)));
  CHECK(groups[0].worst == 2);
  CHECK(groups[0].worst_ratio == Approx(std::exp(-2.0)));
  CHECK(groups[1].rms == 0.0);
  CHECK(groups[2].role == hardware::ObservationRole::check);
  CHECK(groups[2].bias == Approx(std::log(2.0)));
}

}  // namespace
}  // namespace equarx::calibrate::kernel_groups_test
