#include "models/numerics/codec/scales.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

#include "models/numerics/elements/bfloat16.hpp"
#include "models/numerics/elements/element_codecs.hpp"

namespace equarx::numerics {

static_assert(std::endian::native == std::endian::little);

namespace {

template <class Code>
Code load(const std::byte* bytes, std::size_t i) {
  Code code;
  std::memcpy(&code, bytes + i * sizeof(Code), sizeof(Code));
  return code;
}

template <class Code>
void store(Code code, std::byte* bytes, std::size_t i) {
  std::memcpy(bytes + i * sizeof(Code), &code, sizeof(Code));
}

constexpr int kFloatMantissaBits = std::numeric_limits<float>::digits - 1;
constexpr std::uint8_t kE8m0Nan = 0xff;
constexpr float kE8m0Smallest = 0x1p-127F;

// Conditional expressions instead of branches here, so that loops over groups vectorise.
float scale_for(float absmax, float max_finite, float smallest) {
  const float nonzero = std::max(absmax / max_finite, smallest);
  const float scale = absmax > 0.0F ? nonzero : 0.0F;
  return absmax <= std::numeric_limits<float>::max() ? scale
                                                     : std::numeric_limits<float>::quiet_NaN();
}

// Both step back from a scale that was rounded up so far that the largest code would decode to Inf.
float fp32_scale(float absmax, float max_finite) {
  const float scale = scale_for(absmax, max_finite, std::numeric_limits<float>::min());
  const float before = std::bit_cast<float>(std::bit_cast<std::int32_t>(scale) - 1);
  return scale * max_finite > std::numeric_limits<float>::max() ? before : scale;
}

std::uint16_t bf16_scale(float absmax, float max_finite) {
  const std::uint16_t code =
      bf16_from_float(scale_for(absmax, max_finite, std::numeric_limits<float>::min()));
  const bool overflows = float_from_bf16(code) * max_finite > std::numeric_limits<float>::max();
  return static_cast<std::uint16_t>(code - (overflows ? 1 : 0));
}

std::uint8_t e4m3_scale(float absmax, float max_finite) {
  return Fp8E4m3::encode(scale_for(absmax, max_finite, Fp8E4m3::kDecoded[1]));
}

// The exponent of E8M0 is biased as that of FP32, so that subnormal abs-max, of exponent 0, needs no
// care: the result is not below 0 anyway.
std::uint8_t e8m0_scale(float absmax, float max_finite) {
  if (!std::isfinite(absmax)) return kE8m0Nan;
  const std::int32_t biased = std::bit_cast<std::int32_t>(absmax) >> kFloatMantissaBits;
  return static_cast<std::uint8_t>(std::max(biased - std::ilogb(max_finite), 0));
}

float float_from_e8m0(std::uint8_t code) {
  if (code == kE8m0Nan) return std::numeric_limits<float>::quiet_NaN();
  if (code == 0) return kE8m0Smallest;
  return std::bit_cast<float>(std::int32_t{code} << kFloatMantissaBits);
}

float largest_value(ElementFormat format) {
  float largest = 0.0F;
  with_element(format, [&](auto element) { largest = decltype(element)::kMaxFinite; });
  return largest;
}

}  // namespace

void encode_scales(const BlockFormat& format, std::span<const float> absmax, std::byte* bytes) {
  const float largest = largest_value(format.element);
  const auto encode_all = [&](auto encode) {
    for (std::size_t g = 0; g < absmax.size(); ++g) store(encode(absmax[g], largest), bytes, g);
  };
  switch (format.scale) {
    case ScaleFormat::fp32: return encode_all([](float a, float m) { return fp32_scale(a, m); });
    case ScaleFormat::bf16: return encode_all([](float a, float m) { return bf16_scale(a, m); });
    case ScaleFormat::e8m0: return encode_all([](float a, float m) { return e8m0_scale(a, m); });
    case ScaleFormat::e4m3: return encode_all([](float a, float m) { return e4m3_scale(a, m); });
  }
}

void decode_scales(ScaleFormat format, const std::byte* bytes, std::span<float> scales) {
  const auto decode_all = [&](auto decode) {
    for (std::size_t g = 0; g < scales.size(); ++g) scales[g] = decode(bytes, g);
  };
  switch (format) {
    case ScaleFormat::fp32: return decode_all(load<float>);
    case ScaleFormat::bf16:
      return decode_all([](const std::byte* from, std::size_t g) {
        return float_from_bf16(load<std::uint16_t>(from, g));
      });
    case ScaleFormat::e8m0:
      return decode_all([](const std::byte* from, std::size_t g) {
        return float_from_e8m0(load<std::uint8_t>(from, g));
      });
    case ScaleFormat::e4m3:
      return decode_all([](const std::byte* from, std::size_t g) {
        return Fp8E4m3::decode(load<std::uint8_t>(from, g));
      });
  }
}

}  // namespace equarx::numerics
