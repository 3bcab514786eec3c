// Serialization of results, for the pipe from the process that simulates.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "sim/time_result.hpp"

namespace equarx::sim {

/// Serializes a result for another process of this program.
std::vector<std::byte> to_bytes(const TimeResult& result);

/// Inverse of to_bytes(). @throws exceptions::InvariantError if bytes are missing.
TimeResult from_bytes(std::span<const std::byte> bytes);

}  // namespace equarx::sim
