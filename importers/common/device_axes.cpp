#include "importers/common/device_axes.hpp"

#include <algorithm>
#include <functional>
#include <numeric>
#include <utility>

namespace equarx::imports {
namespace {

/// An arithmetic sequence: 0, stride, 2 stride, ...
struct Run {
  std::uint64_t stride = 1;
  std::uint64_t length = 1;
};

/// Returns the runs whose sums are the chips of the group that contains chip 0, fastest first;
/// std::nullopt if the group is not a sum of runs.
std::optional<std::vector<Run>> runs_of(std::vector<std::uint32_t> group) {
  std::ranges::sort(group);
  if (group.empty() || group.front() != 0) return std::nullopt;
  std::vector<Run> runs;
  std::uint64_t covered = 1;
  while (covered < group.size()) {
    const std::uint64_t stride = group[covered];  // 0 if chip 0 is listed twice
    std::uint64_t length = 1;
    while (length * covered < group.size() && group[length * covered] == length * stride) ++length;
    runs.push_back({stride, length});
    if (stride == 0 || length < 2 || group.size() % (covered * length) != 0) return std::nullopt;
    covered *= length;
  }
  return runs;
}

DeviceGroups sorted(DeviceGroups groups) {
  for (std::vector<std::uint32_t>& group : groups) std::ranges::sort(group);
  std::ranges::sort(groups);
  return groups;
}

std::vector<std::uint64_t> strides_of(const std::vector<std::uint32_t>& lengths) {
  std::vector<std::uint64_t> strides(lengths.size(), 1);
  for (std::size_t axis = lengths.size(); axis-- > 1;)
    strides[axis - 1] = strides[axis] * lengths[axis];
  return strides;
}

/// Groups along some axes; chips and groups are sorted.
DeviceGroups groups_along(const std::vector<std::uint32_t>& lengths,
                          const std::vector<std::size_t>& axes, std::uint32_t devices) {
  const std::vector<std::uint64_t> strides = strides_of(lengths);
  std::vector<std::uint32_t> group_of(devices);  // first chip of its group
  for (std::uint32_t device = 0; device < devices; ++device) {
    std::uint64_t first = device;
    for (const std::size_t axis : axes)
      first -= device / strides[axis] % lengths[axis] * strides[axis];
    group_of[device] = static_cast<std::uint32_t>(first);
  }
  DeviceGroups by_first(devices);
  for (std::uint32_t device = 0; device < devices; ++device)
    by_first[group_of[device]].push_back(device);
  std::erase_if(by_first, [](const auto& group) { return group.empty(); });
  return by_first;
}

const std::vector<std::uint32_t>* group_with_first(const DeviceGroups& groups) {
  for (const std::vector<std::uint32_t>& group : groups)
    if (std::ranges::find(group, 0U) != group.end()) return &group;
  return nullptr;
}

}  // namespace

DeviceAxes::DeviceAxes(std::uint32_t devices) : lengths_{devices} {}

std::uint32_t DeviceAxes::devices() const {
  return std::accumulate(lengths_.begin(), lengths_.end(), std::uint32_t{1}, std::multiplies<>());
}

bool DeviceAxes::divide_for(const DeviceGroups& groups) {
  const std::vector<std::uint32_t>* first = group_with_first(groups);
  const auto runs = first == nullptr ? std::nullopt : runs_of(*first);
  if (!runs) return false;
  // Boundaries between axes, as numbers of chips; each must be a multiple of the previous one.
  std::vector<std::uint64_t> borders = strides_of(lengths_);
  borders.push_back(devices());
  for (const Run& run : *runs) {
    borders.push_back(run.stride);
    borders.push_back(run.stride * run.length);
  }
  std::ranges::sort(borders);
  borders.erase(std::unique(borders.begin(), borders.end()), borders.end());
  if (borders.back() != devices()) return false;
  std::vector<std::uint32_t> lengths;
  for (std::size_t i = borders.size(); i-- > 1;) {
    if (borders[i] % borders[i - 1] != 0) return false;
    lengths.push_back(static_cast<std::uint32_t>(borders[i] / borders[i - 1]));
  }
  if (lengths.empty()) lengths = {1};
  DeviceAxes divided(std::move(lengths));
  if (!divided.axes_of(groups)) return false;
  *this = std::move(divided);
  return true;
}

std::optional<std::vector<std::size_t>> DeviceAxes::axes_of(const DeviceGroups& groups) const {
  const std::vector<std::uint32_t>* first = group_with_first(groups);
  if (first == nullptr) return std::nullopt;
  const std::vector<std::uint64_t> strides = strides_of(lengths_);
  std::vector<std::size_t> axes;
  for (std::size_t axis = 0; axis < lengths_.size(); ++axis)
    if (lengths_[axis] > 1 && std::ranges::find(*first, strides[axis]) != first->end())
      axes.push_back(axis);
  if (sorted(groups) != groups_along(lengths_, axes, devices())) return std::nullopt;
  return axes;
}

}  // namespace equarx::imports
