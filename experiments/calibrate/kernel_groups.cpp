#include "experiments/calibrate/kernel_groups.hpp"

#include <algorithm>
#include <cmath>
#include <variant>

namespace equarx::calibrate {
namespace {

KernelGroup& group_for(const KernelError& error, std::vector<KernelGroup>& groups) {
  const auto found = std::ranges::find_if(groups, [&](const KernelGroup& group) {
    return group.what == error.what && group.role == error.role && group.source == error.source;
  });
  if (found != groups.end()) return *found;
  return groups.emplace_back(
      KernelGroup{.what = error.what, .source = error.source, .role = error.role});
}

}  // namespace

std::vector<KernelGroup> kernel_groups(const std::vector<KernelError>& errors) {
  std::vector<KernelGroup> groups;
  for (const KernelError& one : errors) {
    KernelGroup& group = group_for(one, groups);
    const double error = std::log(one.ratio);
    if (group.rows == 0 || std::abs(error) > std::abs(std::log(group.worst_ratio))) {
      group.worst = one.row;
      group.worst_ratio = std::exp(error);
    }
    ++group.rows;
    group.bias += error;
    group.rms += error * error;
  }
  for (KernelGroup& group : groups) {
    const auto count = static_cast<double>(group.rows);
    group.bias /= count;
    group.rms = std::sqrt(group.rms / count);
  }
  return groups;
}

std::vector<KernelGroup> kernel_groups(const CalibrationTask& task,
                                       const std::vector<CalibrationRow>& rows) {
  std::vector<KernelError> errors;
  for (std::size_t i = 0; i < task.measurements.size(); ++i) {
    const Measurement& measurement = task.measurements[i];
    if (const auto* kernel = std::get_if<KernelTime>(&measurement.of))
      errors.push_back({kernel->group, measurement.source, measurement.role,
                        rows[i].simulated / measurement.measured, i});
  }
  return kernel_groups(errors);
}

}  // namespace equarx::calibrate
