// The third reader of a program: what must cross each link direction, whatever the timing.
#pragma once

#include <array>
#include <cstdint>

#include "models/collectives/program.hpp"

namespace equarx::collectives {

/// Bytes that every rank sends in each Direction.
std::array<std::uint64_t, kDirections> sent_bytes(const Program& program);

/// The same, of one kind of content.
std::array<std::uint64_t, kDirections> sent_bytes(const Program& program, Content content);

}  // namespace equarx::collectives
