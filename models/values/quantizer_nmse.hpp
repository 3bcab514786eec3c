// Error of one quantization, found by quantizing.
#pragma once

#include <cstdint>

#include "models/formats/block_format.hpp"
#include "models/numerics/inputs/inputs.hpp"

namespace equarx::values {

/// Returns the squared error of quantizing values of `inputs` once, over their power, in a format
/// with scales: the NMSE of an AllGather of two ranks with about 2^17 elements. `elements`: per
/// scale of the strided layout.
double measured_quantizer_nmse(const numerics::BlockFormat& format, std::uint64_t elements,
                               const numerics::InputSpec& inputs);

}  // namespace equarx::values
