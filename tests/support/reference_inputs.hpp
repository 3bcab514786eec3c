// The oracle for generate(): the same values, one at a time.
#pragma once

#include <cstdint>

#include "models/numerics/inputs/inputs.hpp"

namespace equarx::testing {

/// Implements generate()'s specification bit for bit, slowly: `element` of the tensor of `rank`.
float reference_input(const numerics::InputSpec& spec, std::uint32_t rank, std::uint64_t element);

}  // namespace equarx::testing
