// Quantizes and dequantizes tensors in a BlockFormat.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "models/numerics/block_format.hpp"

namespace equarx::numerics {

/// What quantization did to the elements of a span.
struct QuantizeCounts {
  std::uint64_t elements = 0;
  std::uint64_t clipped = 0;     ///< finite, but beyond the largest code even after rounding
  std::uint64_t flushed = 0;     ///< not zero, but decoded as zero
  std::uint64_t non_finite = 0;  ///< decoded as NaN or Inf; without scales, also was one before

  QuantizeCounts& operator+=(const QuantizeCounts& other);
  bool operator==(const QuantizeCounts&) const = default;
};

/// The codec of one format, for a *minishard* that is seen in pieces. `first` is the offset of a
/// piece in its minishard: it decides which scale group an element belongs to. Spans of absmax and
/// scales are those of the whole minishard, scale_count() long. Immutable, so any number of threads
/// may share one.
///
/// Rules, with M the largest finite code (127 for int8, 448 for E4M3, 57344 for E5M2):
/// - scale = abs-max / M, and at least 2^-126, so that it is a normal number; 0 if the whole group
///   is zero; NaN if the group holds a NaN or an Inf. Then it is rounded to the format of scales,
///   to nearest even, and down where M x scale would otherwise overflow. A scale may thus be
///   rounded down: codes saturate at M.
/// - code = x / scale, an IEEE division, rounded to nearest even. A quotient that is NaN (scale 0
///   or NaN) has code 0.
/// - value = code x scale in FP32. So a zero group decodes to 0, and a group that held a NaN or an
///   Inf decodes to NaN entirely: nothing that is not finite vanishes, or damages another group.
/// - The error of int8 is at most scale / 2, up to FP32 rounding; a group whose abs-max is below
///   2^-126 x M may be coarser than its abs-max asks for, and its error is then at most 2^-127.
/// - Without scales a code is the cast of x: fp32 exact, bf16 and FP8 as in bfloat16.hpp and
///   minifloat.hpp, int8 the nearest integer (ties to even) within +-127. int8 has no code for NaN,
///   which becomes 0, nor for Inf, which saturates; count() tells of both.
/// Which NaN (sign, payload) a NaN becomes is not specified.
///
/// Every function throws std::invalid_argument for spans whose sizes do not fit each other.
class BlockCodec {
 public:
  /// Throws std::invalid_argument for a format that has no meaning: contiguous blocks of 0
  /// elements, fp32 or bf16 with scales.
  explicit BlockCodec(BlockFormat format);

  const BlockFormat& format() const { return format_; }

  /// Raises absmax[g] to the largest magnitude of group g in this piece. Starts from zeros. NaN
  /// counts as larger than Inf.
  void find_absmax(std::span<const float> values, std::size_t first, std::span<float> absmax) const;

  /// Scales as they go on the wire, scale_bytes() each, little-endian as all supported hosts are.
  void encode_scales(std::span<const float> absmax, std::span<std::byte> bytes) const;

  /// The scales that quantize and dequantize take, on the sender's side too.
  void decode_scales(std::span<const std::byte> bytes, std::span<float> scales) const;

  /// `payload` is payload_bytes() of values.size() long.
  void quantize(std::span<const float> values, std::size_t first, std::span<const float> scales,
                std::span<std::byte> payload) const;

  void dequantize(std::span<const std::byte> payload, std::size_t first,
                  std::span<const float> scales, std::span<float> values) const;

  /// sums = local + dequantized payload, in FP32. `sums` is `local` itself or does not overlap it.
  void dequantize_add(std::span<const std::byte> payload, std::size_t first,
                      std::span<const float> scales, std::span<const float> local,
                      std::span<float> sums) const;

  /// What quantize() with these scales does to `values`. A pass of its own: who does not ask for
  /// counts does not pay for them.
  QuantizeCounts count(std::span<const float> values, std::size_t first,
                       std::span<const float> scales) const;

 private:
  void check_scales(std::size_t scales, std::size_t first, std::size_t elements) const;
  void check_payload(std::size_t bytes, std::size_t elements) const;

  BlockFormat format_;
};

}  // namespace equarx::numerics
