#pragma once

#include <cstdint>

#include "topologies/topology.hpp"

namespace equarx::topology {

/// Chips of the largest fully connected topology: its half a million cables are already more than
/// any switch has ports for.
inline constexpr std::uint32_t kMaxFullyConnected = 1024;

/// A cable between every two of `chips` chips, labelled by their numbers.
/// Throws std::invalid_argument for no chips, or for more than kMaxFullyConnected.
Topology make_fully_connected(std::uint32_t chips);

}  // namespace equarx::topology
