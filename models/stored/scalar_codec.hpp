// Scalar encoder and decoder of all stored formats, one element after the other: the reference for
// packed_codec.hpp.
#pragma once

#include <span>
#include <vector>

#include "models/stored/stored_codec.hpp"

namespace equarx::stored {

/// encode() for values and importance that it has checked.
Encoded encode_scalar(const StoredFormat& format, const Shape& shape, std::span<const float> values,
                      std::span<const float> importance);

/// decode().
std::vector<float> decode_scalar(const StoredFormat& format, const Encoded& encoded);

}  // namespace equarx::stored
