#pragma once

#include <cstdint>

namespace equarx::collectives {

/// value / divisor, rounded up. divisor >= 1.
constexpr std::uint64_t divide_up(std::uint64_t value, std::uint64_t divisor) {
  return value / divisor + (value % divisor != 0 ? 1 : 0);
}

}  // namespace equarx::collectives
