#include "models/numerics/codec/zeropp.hpp"

#include <limits>

#include "models/numerics/codec/reciprocal_scale.hpp"
#include "models/numerics/elements/float16.hpp"

namespace equarx::numerics {
namespace {

struct ZeroPpRule {
  static constexpr Rounding kRounding = Rounding::nearest;
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

}  // namespace

std::unique_ptr<const RuleCodec> make_zeropp(const BlockFormat& format) {
  return std::make_unique<const ZeroPp>(format);
}

}  // namespace equarx::numerics
