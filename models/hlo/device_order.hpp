// Chips in the order of an array whose axes are turned, as XLA writes groups of chips.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "models/hlo/replica_groups.hpp"

namespace equarx::hlo {

/// Chips of a program at most.
inline constexpr std::uint64_t kMostDevices = 1 << 24;

/// Lengths of axes, or their order.
using AxisNumbers = std::vector<std::int64_t>;

/// The product of lengths; none if it is 0 or more than kMostDevices.
std::optional<std::uint64_t> product_of(const AxisNumbers& lengths);

/// Whether it names each of so many axes once.
bool is_order(const AxisNumbers& order, std::size_t axes);

/// 0, 1, 2, ... in an array of these lengths whose axes are put into another order: `size` numbers, which is the product
/// of the lengths. `order`: is_order()
std::vector<std::uint32_t> transposed_iota(const AxisNumbers& lengths, const AxisNumbers& order,
                                           std::uint64_t size);

/// What stands behind "<=" in "<=[2,4]T(1,0)": transposed_iota(). None if it is not that, or has not `size` numbers.
std::optional<std::vector<std::uint32_t>> read_iota(std::string_view text, std::uint64_t size);

/// Numbers in runs of so many, which divides them.
DeviceGroups in_runs(const std::vector<std::uint32_t>& numbers, std::uint64_t per_group);

}  // namespace equarx::hlo
