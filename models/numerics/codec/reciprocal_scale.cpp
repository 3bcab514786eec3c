#include "models/numerics/codec/reciprocal_scale.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <vector>

#include "models/numerics/elements/bit_packing.hpp"
#include "models/numerics/elements/float16.hpp"
#include "models/numerics/kernels/kernels.hpp"

namespace equarx::numerics::reciprocal_scale {
namespace {

/// Stands for an amax of zero, where plain 0 marks an empty group. Becomes 0 in FP16.
constexpr float kZeroSeen = std::numeric_limits<float>::denorm_min();

bool is_zeropp(const BlockFormat& format) { return format.rule == ScaleRule::zeropp; }

/// Codes are -half_range() .. half_range() - 1.
float half_range(const BlockFormat& format) {
  return format.element == ElementFormat::int8 ? 128.0F : 8.0F;
}

/// Code that the amax is scaled to: n in the header comment.
float target_code(const BlockFormat& format) {
  return half_range(format) - (is_zeropp(format) ? 0.0F : 1.0F);
}

float factor_of_amax(const BlockFormat& format, float amax) {
  return amax == 0.0F ? 1.0F : target_code(format) / amax;
}

/// ZeRO++: the amax has 11 significant bits, so the 24-bit scale determines it, and the factor,
/// exactly.
float factor_of_scale(const BlockFormat& format, float scale) {
  constexpr float kMost = std::numeric_limits<float>::max();
  if (is_zeropp(format)) return factor_of_amax(format, round_to_fp16(target_code(format) * scale));
  const float factor = 1.0F / scale;
  return factor > kMost ? kMost : factor;  // for subnormal scales
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

/// Rounds scaled values to integers, before clamping; NaN stays NaN.
class Rounder {
 public:
  Rounder(const BlockFormat& format, const RoundingKey& key)
      : stochastic_(!is_zeropp(format)), key_(key) {}

  float round(float scaled, std::size_t element) {
    if (!stochastic_) return std::nearbyint(scaled);
    const float below = std::floor(scaled);
    return unit_of(word(key_.first_element + element)) < scaled - below ? std::ceil(scaled) : below;
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

  bool stochastic_;
  RoundingKey key_;
  PhiloxCounter words_{};
  std::uint64_t index_ = 0;
  bool drawn_ = false;
};

/// Calls `take(element, whole)` with the unclamped code of each value.
template <typename Take>
void round_all(const BlockFormat& format, std::span<const float> values, std::size_t first,
               std::span<const float> scales, const RoundingKey& key, Take take) {
  Rounder rounder(format, key);
  for_each_group(format, first, values.size(),
                 [&](std::size_t group, std::size_t begin, std::size_t end) {
                   const float factor = factor_of_scale(format, scales[group]);
                   for (std::size_t i = begin; i < end; ++i) {
                     const float value = is_zeropp(format) ? round_to_fp16(values[i]) : values[i];
                     take(i, rounder.round(value * factor, i));
                   }
                 });
}

std::byte clamped(float whole, float half_range) {
  if (std::isnan(whole)) return {};
  return static_cast<std::byte>(
      static_cast<std::int8_t>(std::clamp(whole, -half_range, half_range - 1.0F)));
}

}  // namespace

bool has_rule(const BlockFormat& format) {
  return format.rule == ScaleRule::zeropp || format.rule == ScaleRule::sdp4bit;
}

void check(const BlockFormat& format) {
  if (!has_rule(format)) return;
  const Rounding rounding = is_zeropp(format) ? Rounding::nearest : Rounding::stochastic;
  if (!format.scaled || format.scale != ScaleFormat::fp32 ||
      format.layout != ScaleLayout::contiguous || format.tensor_scale ||
      format.rounding != rounding)
    throw std::invalid_argument(
        "ZeRO++ and SDP4Bit require fp32 scales of contiguous blocks, and rounding to nearest "
        "(ZeRO++) or stochastic rounding (SDP4Bit)");
  if (format.element != ElementFormat::int8 && format.element != ElementFormat::int4)
    throw std::invalid_argument("ZeRO++ and SDP4Bit support int8 and int4 only");
}

void find_amax(const BlockFormat& format, std::span<const float> values, std::size_t first,
               std::span<float> amax) {
  if (!is_zeropp(format)) return kernels::find_amax({format, first}, values, amax.data());
  for_each_group(format, first, values.size(),
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

void encode_scales(const BlockFormat& format, std::span<const float> amax,
                   std::span<std::byte> bytes) {
  for (std::size_t i = 0; i < amax.size(); ++i) {
    const float most = is_zeropp(format) ? round_to_fp16(amax[i]) : amax[i];
    const float scale = 1.0F / factor_of_amax(format, most);
    std::memcpy(&bytes[i * sizeof scale], &scale, sizeof scale);
  }
}

void quantize(const BlockFormat& format, std::span<const float> values, std::size_t first,
              std::span<const float> scales, std::span<std::byte> payload, const RoundingKey& key) {
  std::vector<std::byte> codes(values.size());
  round_all(format, values, first, scales, key,
            [&](std::size_t i, float whole) { codes[i] = clamped(whole, half_range(format)); });
  if (format.element == ElementFormat::int4)
    pack_codes<4>(codes.data(), codes.size(), payload.data());
  else
    std::ranges::copy(codes, payload.begin());
}

void dequantize(const BlockFormat& format, std::span<const std::byte> payload, std::size_t first,
                std::span<const float> scales, std::span<float> values) {
  kernels::dequantize({format, first, scales.data()}, payload.data(), values);
  if (is_zeropp(format)) std::ranges::transform(values, values.begin(), round_to_fp16);
}

void dequantize_add(const BlockFormat& format, std::span<const std::byte> payload,
                    std::size_t first, std::span<const float> scales, std::span<const float> local,
                    std::span<float> sums) {
  if (!is_zeropp(format))
    return kernels::dequantize_add({format, first, scales.data()}, payload.data(), local.data(),
                                   sums, nullptr);
  std::vector<float> decoded(sums.size());
  dequantize(format, payload, first, scales, decoded);
  for (std::size_t i = 0; i < sums.size(); ++i)
    sums[i] = round_to_fp16(round_to_fp16(local[i]) + decoded[i]);
}

QuantizeCounts count(const BlockFormat& format, std::span<const float> values, std::size_t first,
                     std::span<const float> scales, const RoundingKey& key) {
  QuantizeCounts counts{.elements = values.size()};
  const float most = half_range(format);
  round_all(format, values, first, scales, key, [&](std::size_t i, float whole) {
    const float scale = scales[(first + i) / format.block];
    const float code = std::to_integer<std::int8_t>(clamped(whole, most));
    const float decoded = is_zeropp(format) ? round_to_fp16(code * scale) : code * scale;
    counts.clipped += whole < -most || whole >= most ? 1 : 0;
    counts.flushed += values[i] != 0.0F && decoded == 0.0F ? 1 : 0;
    counts.non_finite += std::isfinite(decoded) ? 0 : 1;
  });
  return counts;
}

}  // namespace equarx::numerics::reciprocal_scale
