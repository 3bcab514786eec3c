// Quantizes and dequantizes tensors in a BlockFormat.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "models/formats/block_format.hpp"
#include "models/numerics/kernels/quantize_counts.hpp"
#include "models/numerics/random/rounding_key.hpp"

namespace equarx::numerics {

/// The codec of one format, for a *minishard* that is seen in pieces. `first` is the offset of a
/// piece in its minishard: it decides which scale group an element belongs to. Spans of amax and
/// scales are those of the whole minishard, scale_count() long. Immutable, so any number of threads
/// may share one.
///
/// Rules, with M the largest finite value of an element (127 for int8, 31 for int6, 7 for int4, 448 for
/// E4M3, 240 for E4M3FNUZ, 57344 for E5M2 and E5M2FNUZ, 7.5 for E2M3, 28 for E3M2, 6 for E2M1, 127/64 for
/// mxint8):
/// - scale = amax / M, and at least 2^-126, so that it is a normal number; 0 if the whole group
///   is zero; NaN if the group holds a NaN or an Inf. Then it is rounded to the format of scales,
///   to nearest even, and down where M x scale would otherwise overflow. A scale may thus be
///   rounded down: codes saturate at M.
/// - E4M3 scales are the same, but at least 2^-9, their smallest, and at most 448.
/// - With a tensor scale t, E4M3 scales are those of amax / t, and count t times as much:
///   t = the largest finite amax / (448 M), of the minishard or more, at least 2^-117, so that
///   t x 2^-9 is a normal number, and one step less where 448 t x M would overflow. It comes before
///   the scales, in FP32.
/// - E8M0 scales are 2^(floor(log2(amax)) - floor(log2(M))), the rule of the OCP MX Specification
///   v1.0, section 6.3, and at least 2^-127, of a zero group too. The amax may thus be up to twice
///   what M x scale reaches: codes saturate at M. NaN as above.
/// - code = x / scale, an IEEE division, rounded to nearest even. A quotient that is NaN (scale 0
///   or NaN) has code 0.
/// - value = code x scale in FP32. So a zero group decodes to 0, and a group that held a NaN or an
///   Inf decodes to NaN entirely: nothing that is not finite vanishes, or damages another group.
/// - The error of int8 is at most scale / 2, up to FP32 rounding; a group whose amax is below
///   2^-126 x M may be coarser than its amax asks for, and its error is then at most 2^-127.
/// - Without scales a code is the cast of x: fp32 exact, bf16 and FP8 as in bfloat16.hpp and
///   minifloat.hpp, int8 the nearest integer (ties to even) within +-127. int8 has no code for NaN,
///   which becomes 0, nor for Inf, which saturates; count() tells of both.
/// - Stochastic rounding: a quotient between two codes becomes either, the one away from zero with a
///   probability of its distance from the other in steps (in units of 2^-24), so that the mean is
///   right. Codes that are exact, beyond M or not finite are as above.
/// - ScaleRule::quickreduce has rules of its own (quickreduce.hpp): sums are rounded to FP16, and amax is of values
///   with their sign.
/// - ScaleRule::zeropp and ScaleRule::sdp4bit have rules of their own, too (reciprocal_scale.hpp); sums of the former are
///   rounded to FP16.
/// - Formats with a shared scale (shared_scale.hpp) have values that are codes, or sums of them: the scale is no business
///   of this codec. The int8 of ScaleRule::global_qsgd then takes integers only, and wraps.
/// Which NaN (sign, payload) a NaN becomes is not specified.
///
/// Every function throws std::invalid_argument for spans whose sizes do not fit each other.
class BlockCodec {
 public:
  /// Throws std::invalid_argument for a format that has no meaning: contiguous blocks of 0
  /// elements, fp32, bf16 or fp16 with scales, elements of 4 or 6 bits or mxint8 without, stochastic
  /// rounding of anything but int8, FP8 and what SDP4Bit has, a tensor scale without E4M3 scales.
  explicit BlockCodec(BlockFormat format);

  const BlockFormat& format() const { return format_; }

  /// Raises amax[g] to the largest magnitude of group g in this piece. Starts from zeros. NaN
  /// counts as larger than Inf.
  void find_amax(std::span<const float> values, std::size_t first, std::span<float> amax) const;

  /// Scales of a whole minishard as they go on the wire, scales_bytes() of them, little-endian as all
  /// supported hosts are. `elsewhere` is the largest finite amax, in the units of the values, of other
  /// minishards that have their tensor scale in common with this one; other formats do not read it.
  void encode_scales(std::span<const float> amax, std::span<std::byte> bytes,
                     float elsewhere = 0.0F) const;

  /// The scales that quantize and dequantize take, on the sender's side too.
  void decode_scales(std::span<const std::byte> bytes, std::span<float> scales) const;

  /// `payload` is payload_bytes() of values.size() long. Stochastic rounding needs a key, else
  /// std::invalid_argument; rounding to nearest does not read it.
  void quantize(std::span<const float> values, std::size_t first, std::span<const float> scales,
                std::span<std::byte> payload, const std::optional<RoundingKey>& key = {}) const;

  void dequantize(std::span<const std::byte> payload, std::size_t first,
                  std::span<const float> scales, std::span<float> values) const;

  /// sums = local + dequantized payload, in FP32. `sums` is `local` itself or does not overlap it.
  void dequantize_add(std::span<const std::byte> payload, std::size_t first,
                      std::span<const float> scales, std::span<const float> local,
                      std::span<float> sums) const;

  /// dequantize_add(), then find_amax() of the sums, in one pass. The amax is that of the sums
  /// in the groups of this format, which are those of the next hop if its format has the same.
  void dequantize_add_amax(std::span<const std::byte> payload, std::size_t first,
                             std::span<const float> scales, std::span<const float> local,
                             std::span<float> sums, std::span<float> amax) const;

  /// What quantize() with these scales does to `values`. A pass of its own: who does not ask for
  /// counts does not pay for them. With the same key, where there is one.
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
