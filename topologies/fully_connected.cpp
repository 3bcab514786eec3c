#include "topologies/fully_connected.hpp"

#include <stdexcept>
#include <vector>

#include <fmt/format.h>

namespace equarx::topology {

Topology make_fully_connected(std::uint32_t chips) {
  if (chips == 0 || chips > kMaxFullyConnected) {
    throw std::invalid_argument(fmt::format("{} chips cannot be fully connected; use 1 to {} chips",
                                            chips, kMaxFullyConnected));
  }
  std::vector<Cable> cables;
  for (ChipId first = 0; first < chips; ++first) {
    for (ChipId second = first + 1; second < chips; ++second) cables.push_back({first, second});
  }
  return Topology(chips, cables);
}

}  // namespace equarx::topology
