#pragma once

#include <cstdint>

#include "topologies/topology.hpp"

namespace equarx::topology {

/// Most chips on one switch; the largest NVLink domain that NVIDIA specifies has 576 GPUs.
inline constexpr std::uint32_t kMaxOnSwitch = 1024;

/// Links each of `chips` chips, labelled by their numbers, to one switch, labelled "switch". Cable k
/// is the port of chip k: link 2k leads to the switch, link 2k + 1 from it.
///
/// Throws std::invalid_argument for fewer than 2 or more than kMaxOnSwitch chips.
Topology make_switch(std::uint32_t chips);

}  // namespace equarx::topology
