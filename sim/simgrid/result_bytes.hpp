// A result on its way from the simulation's process to ours.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "sim/time_executor.hpp"

namespace equarx::sim {

/// A result as bytes for another process of this program.
std::vector<std::byte> to_bytes(const TimeResult& result);

/// @throws SimulationError if bytes are missing.
TimeResult from_bytes(std::span<const std::byte> bytes);

}  // namespace equarx::sim
