#include "topologies/folding.hpp"

#include <stdexcept>

namespace equarx::topology {

std::vector<std::uint32_t> folded_axis(std::uint32_t length) {
  if (length == 0) throw std::invalid_argument("an axis of length 0; give it at least 1 position");
  std::vector<std::uint32_t> positions(length);
  const std::uint32_t outward = (length + 1) / 2;  // places on the even positions
  for (std::uint32_t place = 0; place < length; ++place) {
    positions[place] = place < outward ? 2 * place : 2 * (length - place) - 1;
  }
  return positions;
}

}  // namespace equarx::topology
