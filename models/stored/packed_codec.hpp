// Vectorised, multithreaded encoder and decoder of stored formats, with packed codes.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "models/stored/stored_codec.hpp"

namespace equarx::stored {

/// A stored tensor with packed codes.
struct Packed {
  Shape shape;
  /// `bits` of each code without gaps, the first in the lowest bits of the first byte; negative
  /// integers in two's complement.
  std::vector<std::byte> codes;
  std::vector<float> scales = {};
  std::vector<float> zero_points = {};
  float tensor_scale = 1.0F;
};

/// True for groups of consecutive values, a multiple of 8 or all, with a scale by their largest
/// magnitude or their range, and without elements apart, transforms and k-means. Integers and
/// minifloats round ties to even.
bool has_kernels(const StoredFormat& format, const Shape& shape);

/// encode() of a format that has kernels, bit for bit, on up to `threads` threads.
/// @throws std::invalid_argument for values that are not finite
Packed encode_packed(const StoredFormat& format, const Shape& shape, std::span<const float> values,
                     unsigned threads);
/// Reuses the memory of `packed`; the first value is element `first` in errors.
void encode_packed(const StoredFormat& format, const Shape& shape, std::span<const float> values,
                   Packed& packed, unsigned threads, std::size_t first = 0);
/// decode() of a format that has kernels, bit for bit, into one value for each element.
void decode_packed(const StoredFormat& format, const Packed& packed, std::span<float> values,
                   unsigned threads);
std::vector<float> decode_packed(const StoredFormat& format, const Packed& packed,
                                 unsigned threads);

/// The same tensor with other codes.
/// @{
Packed packed(const StoredFormat& format, const Encoded& encoded);
Encoded unpacked(const StoredFormat& format, const Packed& packed);
/// @}

}  // namespace equarx::stored
