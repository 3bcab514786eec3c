// Mesh axes inferred from groups of devices.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace equarx::imports {

/// Groups of chip numbers of a program, each in rank order.
using DeviceGroups = std::vector<std::vector<std::uint32_t>>;

/// Axis lengths, slowest first. Chip numbers are row-major, as in numpy.arange(n).reshape(lengths),
/// which is how JAX numbers the chips of a Mesh.
class DeviceAxes {
 public:
  /// A single axis. `devices`: 1 or more.
  explicit DeviceAxes(std::uint32_t devices);
  /// Given axes.
  explicit DeviceAxes(std::vector<std::uint32_t> lengths) : lengths_(std::move(lengths)) {}

  const std::vector<std::uint32_t>& lengths() const { return lengths_; }
  std::uint32_t devices() const;

  /// Splits axes so that `groups` are exactly the sets of chips that differ along some of them.
  /// Returns false and leaves the axes unchanged if that is impossible.
  bool divide_for(const DeviceGroups& groups);
  /// Returns the axes along which the chips of each group differ, ascending; std::nullopt if the
  /// groups do not lie along axes. Never includes axes of length 1.
  std::optional<std::vector<std::size_t>> axes_of(const DeviceGroups& groups) const;

 private:
  std::vector<std::uint32_t> lengths_;
};

}  // namespace equarx::imports
