#pragma once

#include <cstdint>

#include "topologies/topology.hpp"

namespace equarx::topology {

/// Largest fully connected topology, in chips. Its half a million links already exceed the ports of
/// any switch.
inline constexpr std::uint32_t kMaxFullyConnected = 1024;

/// Links every pair of `chips` chips, labelled by their numbers. Throws std::invalid_argument for 0
/// or more than kMaxFullyConnected chips.
Topology make_fully_connected(std::uint32_t chips);

}  // namespace equarx::topology
