// ZeRO++'s and SDP4Bit's codecs one element at a time: the oracle of their vector kernels, for any
// bits.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <span>
#include <vector>

#include "models/numerics/codec/kernel_codec.hpp"
#include "models/numerics/elements/bit_packing.hpp"
#include "models/numerics/elements/float16.hpp"

namespace equarx::testing::scalar_reciprocal {

using namespace numerics;

inline void pack_integers(ElementFormat element, std::span<const std::byte> codes,
                          std::span<std::byte> payload) {
  if (element == ElementFormat::int4)
    pack_codes<4>(codes.data(), codes.size(), payload.data());
  else
    std::ranges::copy(codes, payload.begin());
}

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
/// - kBelow, the difference of n from the number of positive codes including 0,
/// - stored(value): the value in the type that the rule computes in,
/// - factor(n, scale): the factor on values, from a decoded scale,
/// - Rounder(key), a function of a scaled value and its index that returns the code as a float,
///   before clamping; NaN stays NaN.
template <class Rule>
class ReciprocalScale : public KernelCodec {
 public:
  using KernelCodec::KernelCodec;

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

struct ZeroPpRule {
  static constexpr float kBelow = 0.0F;

  static float stored(float value) { return round_to_fp16(value); }

  /// The amax has 11 significant bits, so the 24-bit scale determines it, and the factor, exactly.
  static float factor(float n, float scale) {
    const float amax = round_to_fp16(n * scale);
    return amax == 0.0F ? 1.0F : n / amax;
  }

  struct Rounder {
    explicit Rounder(const RoundingKey& /*key*/) {}
    float operator()(float scaled, std::size_t /*element*/) const { return std::nearbyint(scaled); }
  };
};

class ZeroPp final : public ReciprocalScale<ZeroPpRule> {
 public:
  using ReciprocalScale::ReciprocalScale;

  void find_amax(std::span<const float> values, std::size_t first,
                 std::span<float> amax) const override {
    // Stands for an amax of zero, where plain 0 marks an empty group. Becomes 0 in FP16.
    constexpr float kZeroSeen = std::numeric_limits<float>::denorm_min();
    for_each_group(format(), first, values.size(),
                   [&](std::size_t group, std::size_t begin, std::size_t end) {
                     float most = amax[group];
                     for (std::size_t i = begin; i < end; ++i) {
                       const float size = std::abs(round_to_fp16(values[i]));
                       if (std::isnan(size) ? most == 0.0F : !(most >= size && most > 0.0F))
                         most = size == 0.0F ? kZeroSeen : size;
                     }
                     amax[group] = most;
                   });
  }

  void dequantize(const ScaledPiece& piece, std::span<const std::byte> payload,
                  std::span<float> values) const override {
    KernelCodec::dequantize(piece, payload, values);
    std::ranges::transform(values, values.begin(), round_to_fp16);
  }

  void dequantize_add(const ScaledPiece& piece, std::span<const std::byte> payload,
                      std::span<const float> local, std::span<float> sums,
                      std::span<float> amax) const override {
    std::vector<float> decoded(sums.size());
    dequantize(piece, payload, decoded);
    for (std::size_t i = 0; i < sums.size(); ++i)
      sums[i] = round_to_fp16(round_to_fp16(local[i]) + decoded[i]);
    if (!amax.empty()) find_amax(sums, piece.first, amax);
  }
};

struct Sdp4BitRule {
  static constexpr float kBelow = 1.0F;

  static float stored(float value) { return value; }

  static float factor(float /*n*/, float scale) {
    constexpr float kMost = std::numeric_limits<float>::max();
    return std::min(1.0F / scale, kMost);  // limited for subnormal scales
  }

  class Rounder {
   public:
    explicit Rounder(const RoundingKey& key) : key_(key) {}

    float operator()(float scaled, std::size_t element) {
      const float below = std::floor(scaled);
      const bool up = unit_of(word(key_.first_element + element)) < scaled - below;
      return up ? std::ceil(scaled) : below;
    }

   private:
    std::uint32_t word(std::uint64_t element) {
      const std::uint64_t index = element / kElementsPerCounter;
      if (!drawn_ || index != index_) {
        words_ = rounding_words(key_, index);
        index_ = index;
        drawn_ = true;
      }
      return words_[element % kElementsPerCounter];
    }

    RoundingKey key_;
    PhiloxCounter words_{};
    std::uint64_t index_ = 0;
    bool drawn_ = false;
  };
};

/// The codec of a published format.
inline std::unique_ptr<const RuleCodec> make(const BlockFormat& format) {
  if (format.rule == ScaleRule::zeropp) return std::make_unique<const ZeroPp>(format);
  return std::make_unique<const ReciprocalScale<Sdp4BitRule>>(format);
}

}  // namespace equarx::testing::scalar_reciprocal
