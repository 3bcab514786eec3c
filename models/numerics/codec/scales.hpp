// The scales of groups of elements, by the rules that block_codec.hpp states.
#pragma once

#include <cstddef>
#include <span>

#include "models/formats/block_format.hpp"

namespace equarx::numerics {

/// Makes of each group's abs-max its scale as it goes on the wire: absmax.size() x scale_bytes() bytes.
void encode_scales(const BlockFormat& format, std::span<const float> absmax, std::byte* bytes);

/// Reads as many: scales.size() x scale_bytes() bytes.
void decode_scales(ScaleFormat format, const std::byte* bytes, std::span<float> scales);

}  // namespace equarx::numerics
