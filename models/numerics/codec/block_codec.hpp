// Quantization and dequantization of tensors in a BlockFormat.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "models/formats/block_format.hpp"
#include "models/numerics/kernels/quantize_counts.hpp"
#include "models/numerics/random/rounding_key.hpp"

namespace equarx::numerics {

class RuleCodec;

/// Codec of one format for a *minishard* processed in pieces. `first` is the offset of a piece in
/// its minishard and determines the scale group of each element. Spans of amax and scales cover the
/// whole minishard: scale_count() elements. Immutable, hence safe to share between threads.
///
/// Scales, codes and values follow the ScaleRule of the format: amax_scale.hpp, quickreduce.hpp
/// (sums rounded to FP16, signed amax), zeropp.hpp (sums rounded to FP16) and sdp4bit.hpp. For
/// formats with a shared scale (fp8lm.hpp, global_qsgd.hpp) the values are codes or sums of codes,
/// and the scale is applied outside this codec (shared_scale.hpp).
/// The sign and payload of resulting NaNs are unspecified.
///
/// All functions throw std::invalid_argument if the sizes of their spans do not match.
class BlockCodec {
 public:
  /// Throws std::invalid_argument for blocks of 0 elements, and for a format that its rule does not
  /// support.
  explicit BlockCodec(BlockFormat format);

  /// Likewise; `own` is the codec if the format has ScaleRule::own.
  BlockCodec(BlockFormat format, std::shared_ptr<const RuleCodec> own);

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

  /// Encodes values into held_bytes() of values.size() bytes. Throws std::invalid_argument if
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

  /// Equals quantize() followed by count() of the same values, in one pass for common formats.
  QuantizeCounts quantize_and_count(std::span<const float> values, std::size_t first,
                                    std::span<const float> scales, std::span<std::byte> payload,
                                    const std::optional<RoundingKey>& key = {}) const;

  /// Counts the effects of quantize() with the same arguments, without a payload.
  QuantizeCounts count(std::span<const float> values, std::size_t first,
                       std::span<const float> scales,
                       const std::optional<RoundingKey>& key = {}) const;

 private:
  void add_to(std::span<const std::byte> payload, std::size_t first, std::span<const float> scales,
              std::span<const float> local, std::span<float> sums, std::span<float> amax) const;
  void check_scales(std::size_t scales, std::size_t first, std::size_t elements) const;
  RoundingKey checked(const std::optional<RoundingKey>& key) const;
  void check_payload(std::size_t bytes, std::size_t elements) const;

  BlockFormat format_;
  std::shared_ptr<const RuleCodec> rule_;  ///< shared by copies of this codec
};

/// Bytes of an encoded payload in memory: payload_bytes(). ScaleRule::own: 4 per element, because
/// its codes are decoded at once (own_codec.hpp).
std::size_t held_bytes(const BlockFormat& format, std::size_t elements);

}  // namespace equarx::numerics
