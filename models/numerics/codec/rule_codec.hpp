// Scales and codes by one ScaleRule: the interface that every rule implements.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "models/formats/block_format.hpp"
#include "models/numerics/codec/shared_codes.hpp"
#include "models/numerics/kernels/quantize_counts.hpp"
#include "models/numerics/random/rounding_key.hpp"

namespace equarx::numerics {

/// Position and scales of a piece of a minishard.
struct ScaledPiece {
  std::size_t first = 0;               ///< offset of the piece in its minishard
  std::span<const float> scales = {};  ///< of the whole minishard; empty for formats without scales
  RoundingKey key = {};                ///< unused if the format rounds to nearest
};

/// Codec of one format by its ScaleRule, called once per piece. Sizes are checked by BlockCodec,
/// which also omits the calls about scales for formats without. Immutable.
class RuleCodec {
 public:
  RuleCodec() = default;
  virtual ~RuleCodec() = default;
  RuleCodec(const RuleCodec&) = delete;
  RuleCodec& operator=(const RuleCodec&) = delete;

  // Scales: formats that send none inherit functions without effect, which are not called.

  /// Raises the amax of each group, or its counterpart under this rule, by the values of a piece
  /// that starts at `first`.
  virtual void find_amax(std::span<const float> /*values*/, std::size_t /*first*/,
                         std::span<float> /*amax*/) const {}
  /// Encodes the amax of each group as its scale. `elsewhere`: see BlockCodec::encode_scales().
  virtual void encode_scales(std::span<const float> /*amax*/, float /*elsewhere*/,
                             std::span<std::byte> /*bytes*/) const {}
  /// Decodes scales.size() scales.
  virtual void decode_scales(std::span<const std::byte> /*bytes*/,
                             std::span<float> /*scales*/) const {}

  /// Encodes and packs values.
  virtual void quantize(const ScaledPiece& piece, std::span<const float> values,
                        std::span<std::byte> payload) const = 0;
  /// Unpacks and decodes values.
  virtual void dequantize(const ScaledPiece& piece, std::span<const std::byte> payload,
                          std::span<float> values) const = 0;
  /// Computes sums = local + decoded payload; `sums` may be `local`. Then raises `amax` by the sums
  /// as find_amax() does, unless it is empty.
  virtual void dequantize_add(const ScaledPiece& piece, std::span<const std::byte> payload,
                              std::span<const float> local, std::span<float> sums,
                              std::span<float> amax) const = 0;
  /// Counts the effects of quantize() on the values.
  virtual QuantizeCounts count(const ScaledPiece& piece, std::span<const float> values) const = 0;
  /// Equals quantize() followed by count() of the same values, which is the default; a rule may do
  /// both in one pass.
  virtual QuantizeCounts quantize_and_count(const ScaledPiece& piece, std::span<const float> values,
                                            std::span<std::byte> payload) const;

  /// Derives the codes of one rank from amax, the largest magnitude in the tensors of all ranks.
  /// @throws std::logic_error unless the rule has a shared scale
  virtual std::unique_ptr<const SharedCodes> share(float amax, std::uint32_t ranks) const;
};

/// Returns the codec of a format by its rule.
/// @throws std::invalid_argument for a format that its rule does not support
std::unique_ptr<const RuleCodec> make_rule_codec(const BlockFormat& format);

}  // namespace equarx::numerics
