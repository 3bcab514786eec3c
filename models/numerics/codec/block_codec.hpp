// Quantization and dequantization of tensors in a BlockFormat.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "models/formats/block_format.hpp"
#include "models/numerics/kernels/quantize_counts.hpp"
#include "models/numerics/random/rounding_key.hpp"

namespace equarx::numerics {

/// Codec of one format for a *minishard* processed in pieces. `first` is the offset of a piece in
/// its minishard and determines the scale group of each element. Spans of amax and scales cover the
/// whole minishard: scale_count() elements. Immutable, hence safe to share between threads.
///
/// Rules, with M the largest finite value of an element (127 for int8, 31 for int6, 7 for int4, 448
/// for E4M3, 240 for E4M3FNUZ, 57344 for E5M2 and E5M2FNUZ, 7.5 for E2M3, 28 for E3M2, 6 for E2M1,
/// 127/64 for mxint8):
/// - scale = amax / M, at least 2^-126 so that it is normal; 0 if the whole group is zero; NaN if
///   the group contains a NaN or an Inf. It is then rounded to the scale format, to nearest even,
///   or down where M x scale would otherwise overflow. If a scale is rounded down, codes saturate
///   at M.
/// - E4M3 scales: the same, but at least 2^-9, the smallest E4M3 number, and at most 448.
/// - With a tensor scale t, E4M3 scales are computed from amax / t and apply in units of t:
///   t = largest finite amax / (448 M) over the minishard or more, at least 2^-117 so that t x 2^-9
///   is normal, and one step less where 448 t x M would overflow. t precedes the scales, in FP32.
/// - E8M0 scales are 2^(floor(log2(amax)) - floor(log2(M))), the rule of the OCP MX Specification
///   v1.0, section 6.3, and at least 2^-127, even for a zero group. The amax may exceed M x scale
///   by up to a factor of 2: codes saturate at M. NaN as above.
/// - code = x / scale, an IEEE division, rounded to nearest even. A NaN quotient (scale 0 or NaN)
///   has code 0.
/// - value = code x scale in FP32. A zero group thus decodes to 0, and a group with a NaN or an Inf
///   decodes to NaN entirely: non-finite values neither vanish nor affect another group.
/// - The int8 error is at most scale / 2, up to FP32 rounding. For a group with amax < 2^-126 x M
///   the scale is larger than amax / M, and the error at most 2^-127.
/// - Without scales a code is the cast of x: fp32 is exact, bf16 and FP8 follow bfloat16.hpp and
///   minifloat.hpp, int8 is the nearest integer (ties to even) within +-127. int8 has no code for
///   NaN, which becomes 0, nor for Inf, which saturates; count() reports both.
/// - Stochastic rounding: a quotient between two codes becomes the one away from zero with a
///   probability equal to its distance from the other, in steps (in units of 2^-24), so that the
///   mean is unbiased. Exact, saturated and non-finite codes are as above.
/// - ScaleRule::quickreduce follows quickreduce.hpp: sums are rounded to FP16, and amax is signed.
/// - ScaleRule::zeropp and ScaleRule::sdp4bit follow reciprocal_scale.hpp; sums of the former are
///   rounded to FP16.
/// - For formats with a shared scale (shared_scale.hpp), the values are codes or sums of codes, and
///   the scale is applied outside this codec. The int8 of ScaleRule::global_qsgd then accepts
///   integers only, and wraps.
/// The sign and payload of resulting NaNs are unspecified.
///
/// All functions throw std::invalid_argument if the sizes of their spans do not match.
class BlockCodec {
 public:
  /// Throws std::invalid_argument for an unsupported format: contiguous blocks of 0 elements; fp32,
  /// bf16 or fp16 with scales; 4-bit, 6-bit or mxint8 elements without; stochastic rounding of
  /// anything but int8, FP8 and SDP4Bit's formats; a tensor scale without E4M3 scales.
  explicit BlockCodec(BlockFormat format);

  const BlockFormat& format() const { return format_; }

  /// Raises amax[g] to the largest magnitude of group g in this piece. amax must start at 0. NaN
  /// ranks above Inf.
  void find_amax(std::span<const float> values, std::size_t first, std::span<float> amax) const;

  /// Encodes the scales of a whole minishard for the wire: scales_bytes() bytes, little-endian;
  /// none for formats without scales. `elsewhere` is the largest finite amax of other minishards
  /// that share the tensor scale with this one; ignored by formats without a tensor scale.
  void encode_scales(std::span<const float> amax, std::span<std::byte> bytes,
                     float elsewhere = 0.0F) const;

  /// Decodes scales for quantize() and dequantize(). The sender uses decoded scales as well.
  void decode_scales(std::span<const std::byte> bytes, std::span<float> scales) const;

  /// Encodes values into payload_bytes() of values.size() bytes. Throws std::invalid_argument if
  /// the format rounds stochastically and `key` is empty; rounding to nearest ignores the key.
  void quantize(std::span<const float> values, std::size_t first, std::span<const float> scales,
                std::span<std::byte> payload, const std::optional<RoundingKey>& key = {}) const;

  void dequantize(std::span<const std::byte> payload, std::size_t first,
                  std::span<const float> scales, std::span<float> values) const;

  /// Computes sums = local + dequantized payload, in FP32. `sums` may be `local`, but must not
  /// overlap it partially. Throws std::logic_error for exp8, which is added by exponents::add().
  void dequantize_add(std::span<const std::byte> payload, std::size_t first,
                      std::span<const float> scales, std::span<const float> local,
                      std::span<float> sums) const;

  /// dequantize_add() and find_amax() of the sums in one pass. The amax has the groups of this
  /// format, and serves the next hop if its format has the same groups.
  void dequantize_add_amax(std::span<const std::byte> payload, std::size_t first,
                           std::span<const float> scales, std::span<const float> local,
                           std::span<float> sums, std::span<float> amax) const;

  /// Counts the effects of quantize() with the same arguments. A separate pass, so that quantize()
  /// does not pay for the counts.
  QuantizeCounts count(std::span<const float> values, std::size_t first,
                       std::span<const float> scales,
                       const std::optional<RoundingKey>& key = {}) const;

 private:
  void add_to(std::span<const std::byte> payload, std::size_t first, std::span<const float> scales,
              std::span<const float> local, std::span<float> sums, float* amax) const;
  void check_scales(std::size_t scales, std::size_t first, std::size_t elements) const;
  RoundingKey checked(const std::optional<RoundingKey>& key) const;
  void check_payload(std::size_t bytes, std::size_t elements) const;
  bool has_reciprocal_scale() const;
  bool is_quickreduce() const { return format_.rule == ScaleRule::quickreduce; }

  BlockFormat format_;
};

}  // namespace equarx::numerics
