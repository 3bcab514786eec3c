// The mesh that the groups of a module's collectives are of.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "models/hlo/replica_groups.hpp"

namespace equarx::hlo {

/// Lengths of axes, from the slowest: chip number = sum of its places times the lengths behind them, as in
/// numpy.arange(n).reshape(lengths), which is how JAX numbers the chips of a Mesh.
class DeviceAxes {
 public:
  /// A single axis. `devices`: 1 or more.
  explicit DeviceAxes(std::uint32_t devices);
  /// Axes that are given.
  explicit DeviceAxes(std::vector<std::uint32_t> lengths) : lengths_(std::move(lengths)) {}

  const std::vector<std::uint32_t>& lengths() const { return lengths_; }
  std::uint32_t devices() const;

  /// Divides axes so that these groups are all chips that differ along some of them only. False, and nothing is
  /// changed, if they are no such groups, or would need axes that do not divide each other.
  bool divide_for(const DeviceGroups& groups);
  /// Along which axes the chips of each group differ, rising; none if they are no groups along axes. Axes of length 1
  /// are never named.
  std::optional<std::vector<std::size_t>> axes_of(const DeviceGroups& groups) const;

 private:
  std::vector<std::uint32_t> lengths_;
};

}  // namespace equarx::hlo
