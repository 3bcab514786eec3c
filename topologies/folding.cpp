#include "topologies/folding.hpp"

#include <stdexcept>

namespace equarx::topology {

std::vector<std::uint32_t> folded_axis(std::uint32_t length) {
  if (length == 0) throw std::invalid_argument("an axis of length 0; give it at least 1 position");
  std::vector<std::uint32_t> positions(length);
  const std::uint32_t outward = (length + 1) / 2;  // ring indices on even positions
  for (std::uint32_t index = 0; index < length; ++index) {
    positions[index] = index < outward ? 2 * index : 2 * (length - index) - 1;
  }
  return positions;
}

}  // namespace equarx::topology
