// Integers scaled by a factor whose reciprocal is sent as the scale, as in ZeRO++ and SDP4Bit.
//
// With M the amax of a group and all two's complement codes, including the lowest:
//   factor = M == 0 ? 1 : n / M;  scale = 1 / factor, in FP32;
//   code = clamp(round(x factor));  value = code scale.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "models/formats/block_format.hpp"
#include "models/numerics/codec/kernel_codec.hpp"

namespace equarx::numerics {

/// @throws std::invalid_argument for a format that is not int8 or int4 in contiguous groups with
/// FP32 scales, or is not rounded by `rounding`
void check_reciprocal(const BlockFormat& format, Rounding rounding);

/// Packs the codes of a format with int8 or int4 elements.
void pack_integers(ElementFormat element, std::span<const std::byte> codes,
                   std::span<std::byte> payload);

/// Calls `act(group, begin, end)` for the parts of a piece that share a scale.
template <typename Act>
void for_each_group(const BlockFormat& format, std::size_t first, std::size_t elements, Act act) {
  for (std::size_t begin = 0; begin < elements;) {
    const std::size_t group = (first + begin) / format.block;
    const std::size_t end = std::min(elements, (group + 1) * format.block - first);
    act(group, begin, end);
    begin = end;
  }
}

/// Codec of a rule with a reciprocal scale. `Rule` has
/// - kRounding, the rounding of its formats,
/// - kBelow, the difference of n from the number of positive codes including 0,
/// - stored(value): the value in the type that the rule computes in,
/// - factor(n, scale): the factor on values, from a decoded scale,
/// - Rounder(key), a function of a scaled value and its index that returns the code as a float,
///   before clamping; NaN stays NaN.
template <class Rule>
class ReciprocalScale : public KernelCodec {
 public:
  /// @throws std::invalid_argument for formats that the rules do not support
  explicit ReciprocalScale(const BlockFormat& format) : KernelCodec(format) {
    check_reciprocal(format, Rule::kRounding);
  }

  void encode_scales(std::span<const float> amax, float /*elsewhere*/,
                     std::span<std::byte> bytes) const override {
    for (std::size_t i = 0; i < amax.size(); ++i) {
      const float most = Rule::stored(amax[i]);
      const float scale = 1.0F / (most == 0.0F ? 1.0F : target_code() / most);
      std::memcpy(&bytes[i * sizeof scale], &scale, sizeof scale);
    }
  }

  void quantize(const ScaledPiece& piece, std::span<const float> values,
                std::span<std::byte> payload) const override {
    std::vector<std::byte> codes(values.size());
    const float most = half_range();
    round_all(piece, values, [&](std::size_t i, float whole) { codes[i] = clamped(whole, most); });
    pack_integers(format().element, codes, payload);
  }

  QuantizeCounts count(const ScaledPiece& piece, std::span<const float> values) const override {
    QuantizeCounts counts{.elements = values.size()};
    const float most = half_range();
    round_all(piece, values, [&](std::size_t i, float whole) {
      const float scale = piece.scales[(piece.first + i) / format().block];
      const float decoded =
          Rule::stored(std::to_integer<std::int8_t>(clamped(whole, most)) * scale);
      counts.clipped += whole < -most || whole >= most ? 1 : 0;
      counts.flushed += values[i] != 0.0F && decoded == 0.0F ? 1 : 0;
      counts.non_finite += std::isfinite(decoded) ? 0 : 1;
    });
    return counts;
  }

 private:
  /// Codes are -half_range() .. half_range() - 1.
  float half_range() const { return format().element == ElementFormat::int8 ? 128.0F : 8.0F; }

  /// Code that the amax is scaled to: n in the header comment.
  float target_code() const { return half_range() - Rule::kBelow; }

  static std::byte clamped(float whole, float half_range) {
    if (std::isnan(whole)) return {};
    return static_cast<std::byte>(
        static_cast<std::int8_t>(std::clamp(whole, -half_range, half_range - 1.0F)));
  }

  /// Calls `take(element, whole)` with the unclamped code of each value.
  template <typename Take>
  void round_all(const ScaledPiece& piece, std::span<const float> values, Take take) const {
    typename Rule::Rounder round(piece.key);
    for_each_group(format(), piece.first, values.size(),
                   [&](std::size_t group, std::size_t begin, std::size_t end) {
                     const float factor = Rule::factor(target_code(), piece.scales[group]);
                     for (std::size_t i = begin; i < end; ++i)
                       take(i, round(Rule::stored(values[i]) * factor, i));
                   });
  }
};

}  // namespace equarx::numerics
