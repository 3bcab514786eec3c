// Encoder and decoder of stored formats: deterministic, in FP32, group by group.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "models/stored/stored_format.hpp"

namespace equarx::stored {

/// One element stored with its full value.
struct FullValue {
  std::size_t index;
  float value;

  bool operator==(const FullValue&) const = default;
};

/// A stored tensor.
struct Encoded {
  Shape shape;
  /// Integers without zero point are signed; others count from 0; minifloats are sign and
  /// magnitude; tables are indexed.
  std::vector<std::int16_t> codes;
  std::vector<float> scales = {};       ///< of the groups, tensor scale included
  std::vector<float> zero_points = {};  ///< codes, or the lower ends of ranges
  std::vector<float> tables = {};       ///< fitted, 2^bits values a group
  std::vector<FullValue> apart = {};    ///< in the order of indices
  float tensor_scale = 1.0F;            ///< FP32, of the whole tensor; 1 without one
};

/// Encodes a tensor in row-major order. Elements apart do not affect scales and fitted tables.
/// - scale = range / range of the codes, at least `at_least`, rounded to nearest even in its type,
///   saturating there; ranges are found in FP32.
/// - code = x / scale (IEEE division), rounded to nearest; tables: against the FP32 means of
///   neighbours.
/// `importance`: of each element, not negative; empty if not needed. Formats that have kernels are
/// encoded on up to `threads` threads.
/// @throws std::invalid_argument for values or importance that are not finite, missing importance,
/// and shapes that the format does not divide
Encoded encode(const StoredFormat& format, const Shape& shape, std::span<const float> values,
               std::span<const float> importance = {}, unsigned threads = 1);

/// Decodes a tensor to FP32, likewise.
std::vector<float> decode(const StoredFormat& format, const Encoded& encoded, unsigned threads = 1);

}  // namespace equarx::stored
