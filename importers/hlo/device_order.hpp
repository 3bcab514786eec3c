// Device numbers as transposed iota arrays, the notation of XLA for groups.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "importers/hlo/replica_groups.hpp"

namespace equarx::hlo {

/// Maximum number of chips of a program.
inline constexpr std::uint64_t kMaxDevices = 1 << 24;

/// Axis lengths, or a permutation of axes.
using AxisNumbers = std::vector<std::int64_t>;

/// Product of the lengths; std::nullopt if it is 0 or more than kMaxDevices.
std::optional<std::uint64_t> product_of(const AxisNumbers& lengths);

/// True if `order` is a permutation of `axes` axes.
bool is_order(const AxisNumbers& order, std::size_t axes);

/// Returns 0, 1, 2, ... of an array of these lengths, transposed. `size` is the product of the
/// lengths; `order` satisfies is_order().
std::vector<std::uint32_t> transposed_iota(const AxisNumbers& lengths, const AxisNumbers& order,
                                           std::uint64_t size);

/// Parses "<=[2,4]T(1,0)" (transposed_iota()). Returns std::nullopt for other text, or if it does
/// not have `size` numbers.
std::optional<std::vector<std::uint32_t>> read_iota(std::string_view text, std::uint64_t size);

/// Splits the numbers into consecutive groups; `per_group` divides their count.
DeviceGroups in_runs(const std::vector<std::uint32_t>& numbers, std::uint64_t per_group);

}  // namespace equarx::hlo
