#include "experiments/calibrate/kernel_groups.hpp"

#include <algorithm>
#include <cmath>
#include <variant>

namespace equarx::calibrate {
namespace {

KernelGroup& group_for(const Measurement& measurement, const std::string& what,
                       std::vector<KernelGroup>& groups) {
  const auto found = std::ranges::find_if(groups, [&](const KernelGroup& group) {
    return group.what == what && group.role == measurement.role &&
           group.source == measurement.source;
  });
  if (found != groups.end()) return *found;
  return groups.emplace_back(
      KernelGroup{.what = what, .source = measurement.source, .role = measurement.role});
}

}  // namespace

std::vector<KernelGroup> kernel_groups(const CalibrationTask& task,
                                       const std::vector<CalibrationRow>& rows) {
  std::vector<KernelGroup> groups;
  for (std::size_t i = 0; i < task.measurements.size(); ++i) {
    const Measurement& measurement = task.measurements[i];
    const auto* kernel = std::get_if<KernelTime>(&measurement.of);
    if (kernel == nullptr) continue;
    KernelGroup& group = group_for(measurement, kernel->group, groups);
    const double error = std::log(rows[i].simulated / measurement.measured);
    if (group.rows == 0 || std::abs(error) > std::abs(std::log(group.worst_ratio))) {
      group.worst = i;
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

}  // namespace equarx::calibrate
