#include "experiments/calibrate/kernel_times.hpp"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <tuple>

#include <fmt/format.h>

#include "base/input/json.hpp"
#include "base/output/provenance.hpp"
#include "base/output/table.hpp"
#include "experiments/calibrate/kernel_groups.hpp"
#include "models/hardware/matrix_rate.hpp"
#include "models/workloads/roofline.hpp"

namespace equarx::calibrate {
namespace {

using hardware::ObservationRole;
using units::time_text;

double bound_s(const workloads::Operation& operation, const hardware::Chip& chip) {
  const double hbm_s = operation.hbm_bytes() / chip.hbm_bandwidth.value;
  if (operation.flops <= 0.0) return hbm_s;
  return std::max(hbm_s, operation.unit_ops() / matrix_rate(chip, operation.products));
}

double ratio(const TimedKernel& kernel) {
  return kernel.simulated_s / kernel.row.measured_s.value();
}

std::string_view role_text(ObservationRole role) {
  return role == ObservationRole::fit ? "fitted" : "predicted";
}

std::string groups_table(const std::vector<TimedKernel>& kernels) {
  std::vector<KernelError> errors;
  for (const TimedKernel& kernel : kernels)
    if (kernel.row.measured_s)
      errors.push_back({kernel.row.group, {}, kernel.row.role, ratio(kernel), errors.size()});
  if (errors.empty()) return {};
  std::vector<KernelGroup> groups = kernel_groups(errors);
  std::ranges::sort(groups, {},
                    [](const KernelGroup& group) { return std::tie(group.what, group.role); });
  std::vector<output::TableRow> rows = {{"kernel", "role", "rows", "mean", "rms", "worst"}};
  for (const KernelGroup& group : groups)
    rows.push_back({group.what, std::string(role_text(group.role)), fmt::format("{}", group.rows),
                    fmt::format("{:.2f}x", std::exp(group.bias)),
                    fmt::format("{:.0f} %", 100.0 * group.rms),
                    fmt::format("{:.2f}x", group.worst_ratio)});
  return output::aligned_table(rows) +
         "\n  Simulated / measured: geometric mean, root mean square of the logarithm, and the "
         "worst row.\n";
}

}  // namespace

std::vector<TimedKernel> time_kernels(const std::string& file, double timer_overhead_s,
                                      const hardware::Chip& chip) {
  const workloads::ComputeRates rates = workloads::compute_rates(chip);
  std::vector<TimedKernel> kernels;
  for (KernelRow& row : read_kernel_file(file, chip)) {
    const double outside_s = row.back_to_back ? 0.0 : timer_overhead_s;
    const double seconds = workloads::roofline(row.operation, rates).seconds + outside_s;
    const double least = bound_s(row.operation, chip);
    kernels.push_back({std::move(row), seconds, least});
  }
  return kernels;
}

std::string to_table(const std::vector<TimedKernel>& kernels, const hardware::Chip& chip) {
  std::vector<output::TableRow> rows = {
      {"kernel", "role", "measured", "simulated", "ratio", "lower bound"}};
  for (const TimedKernel& kernel : kernels) {
    const bool measured = kernel.row.measured_s.has_value();
    rows.push_back(
        {kernel.row.what, std::string(measured ? role_text(kernel.row.role) : "-"),
         measured ? time_text(*kernel.row.measured_s) : "-", time_text(kernel.simulated_s),
         measured ? fmt::format("{:.2f}", ratio(kernel)) : "-", time_text(kernel.bound_s)});
  }
  output::shorten_names(rows);
  const std::string groups = groups_table(kernels);
  return fmt::format("{} kernels on {}\n\n{}\n{}", kernels.size(), chip.name,
                     output::aligned_table(rows), groups);
}

input::Json study_json(const std::vector<TimedKernel>& kernels, const hardware::Chip& chip,
                       const std::string& origin) {
  input::Json json = {{"program", "equarx-sim"},
                      {"version", output::version()},
                      {"hardware", chip.name},
                      {"rows", input::Json::array()}};
  for (const TimedKernel& kernel : kernels) {
    const KernelRow& row = kernel.row;
    input::Json one = {{"id", row.what},
                       {"what", fmt::format("{}, {}", chip.name, row.what)},
                       {"metric", "time_s"},
                       {"role", row.role == ObservationRole::fit ? "calibration" : "prediction"},
                       {"simulated", kernel.simulated_s},
                       {"null_model", kernel.bound_s},
                       {"question", "kernel"},
                       {"origin", origin},
                       {"chip", chip.name},
                       {"chips", 1}};
    if (row.measured_s) one["expected"] = *row.measured_s;
    json["rows"].push_back(std::move(one));
  }
  return json;
}

}  // namespace equarx::calibrate
