// The oracle for BlockCodec: the same rules, one element at a time, in the simplest arithmetic.
#pragma once

#include <cstddef>
#include <span>

#include "models/formats/block_format.hpp"
#include "models/numerics/random/rounding_key.hpp"

namespace equarx::testing {

/// Implements BlockCodec's specification bit for bit, slowly. Does not check formats and sizes;
/// QuickReduce's formats are in reference_quickreduce.hpp.
class ReferenceCodec {
 public:
  explicit ReferenceCodec(numerics::BlockFormat format) : format_(format) {}

  void find_amax(std::span<const float> values, std::size_t first, std::span<float> amax) const;
  void encode_scales(std::span<const float> amax, std::span<std::byte> bytes) const;
  void decode_scales(std::span<const std::byte> bytes, std::span<float> scales) const;
  void quantize(std::span<const float> values, std::size_t first, std::span<const float> scales,
                std::span<std::byte> payload, const numerics::RoundingKey& key = {}) const;
  void dequantize(std::span<const std::byte> payload, std::size_t first,
                  std::span<const float> scales, std::span<float> values) const;
  void dequantize_add(std::span<const std::byte> payload, std::size_t first,
                      std::span<const float> scales, std::span<const float> local,
                      std::span<float> sums) const;

 private:
  std::size_t group(std::size_t element) const;

  numerics::BlockFormat format_;
};

}  // namespace equarx::testing
