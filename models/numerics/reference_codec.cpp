#include "models/numerics/reference_codec.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <stdexcept>

namespace equarx::numerics {

namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

// A binary floating-point format, as its definition gives it.
struct FloatLayout {
  int mantissa_bits;
  int min_exponent;  // of the smallest normal value
  int sign_bit;
  double max_finite;
  bool has_inf;
  bool saturates;
  std::uint32_t inf_code;
  std::uint32_t nan_code;
};

constexpr FloatLayout kBf16{7, -126, 15, 0x1.FEp127, true, false, 0x7f80, 0x7fc0};
constexpr FloatLayout kE4m3{3, -6, 7, 448.0, false, true, 0x7f, 0x7f};
constexpr FloatLayout kE5m2{2, -14, 7, 57344.0, true, true, 0x7c, 0x7e};

FloatLayout float_layout(ElementFormat format) {
  switch (format) {
    case ElementFormat::bf16: return kBf16;
    case ElementFormat::fp8_e4m3: return kE4m3;
    case ElementFormat::fp8_e5m2: return kE5m2;
    case ElementFormat::fp32:
    case ElementFormat::int8: break;
  }
  throw std::logic_error("float_layout: not a format with a layout");
}

std::uint32_t encode_magnitude(double magnitude, const FloatLayout& layout) {
  if (std::isinf(magnitude)) return layout.inf_code;
  if (magnitude == 0.0) return 0;
  int exponent = std::max(std::ilogb(magnitude), layout.min_exponent);
  const double step = std::ldexp(1.0, exponent - layout.mantissa_bits);
  double rounded = std::nearbyint(magnitude / step) * step;  // exact but for nearbyint
  if (rounded > layout.max_finite) {
    if (!layout.saturates) return layout.inf_code;
    rounded = layout.max_finite;
  }
  // Steps above zero: subnormals and the first binade share one step, each further one doubles it.
  exponent =
      rounded == 0.0 ? layout.min_exponent : std::max(std::ilogb(rounded), layout.min_exponent);
  const double steps = std::ldexp(rounded, layout.mantissa_bits - exponent);
  return static_cast<std::uint32_t>(
      steps + std::ldexp(exponent - layout.min_exponent, layout.mantissa_bits));
}

std::uint32_t encode_float(float value, const FloatLayout& layout) {
  const std::uint32_t sign = std::signbit(value) ? 1U << layout.sign_bit : 0U;
  if (std::isnan(value)) {
    std::uint32_t code = layout.nan_code;
    if (layout.sign_bit == kBf16.sign_bit) {  // bf16 keeps what payload it can
      std::uint32_t bits = 0;
      std::memcpy(&bits, &value, sizeof(bits));
      code |= (bits >> 16) & 0x7f;
    }
    return sign | code;
  }
  return sign | encode_magnitude(std::abs(static_cast<double>(value)), layout);
}

float decode_float(std::uint32_t code, const FloatLayout& layout) {
  const std::uint32_t magnitude = code & ((1U << layout.sign_bit) - 1);
  double value = 0.0;
  if (magnitude == layout.inf_code && layout.has_inf) {
    value = kInf;
  } else if (magnitude >= layout.inf_code) {
    value = std::numeric_limits<double>::quiet_NaN();
  } else {
    const int exponent = static_cast<int>(magnitude >> layout.mantissa_bits);
    const int mantissa = static_cast<int>(magnitude) - (exponent << layout.mantissa_bits);
    const int hidden = exponent == 0 ? 0 : 1 << layout.mantissa_bits;
    value = std::ldexp(mantissa + hidden, layout.min_exponent - layout.mantissa_bits +
                                              (exponent == 0 ? 0 : exponent - 1));
  }
  return static_cast<float>(code >> layout.sign_bit != 0 ? -value : value);
}

double max_finite(ElementFormat format) {
  if (format == ElementFormat::fp32) return std::numeric_limits<float>::max();
  return format == ElementFormat::int8 ? 127.0 : float_layout(format).max_finite;
}

template <class Code>
void put(Code code, std::span<std::byte> bytes, std::size_t index) {
  std::memcpy(&bytes[index * sizeof(Code)], &code, sizeof(Code));
}

template <class Code>
Code get(std::span<const std::byte> bytes, std::size_t index) {
  Code code{};
  std::memcpy(&code, &bytes[index * sizeof(Code)], sizeof(Code));
  return code;
}

void put_element(float value, ElementFormat format, std::span<std::byte> payload, std::size_t i) {
  if (format == ElementFormat::fp32) {
    put(value, payload, i);
  } else if (format == ElementFormat::int8) {
    double code = std::isnan(value) ? 0.0 : std::nearbyint(static_cast<double>(value));
    if (code > 127.0) code = 127.0;
    if (code < -127.0) code = -127.0;
    put(static_cast<std::int8_t>(code), payload, i);
  } else if (format == ElementFormat::bf16) {
    put(static_cast<std::uint16_t>(encode_float(value, kBf16)), payload, i);
  } else {
    put(static_cast<std::uint8_t>(encode_float(value, float_layout(format))), payload, i);
  }
}

float get_element(ElementFormat format, std::span<const std::byte> payload, std::size_t i) {
  if (format == ElementFormat::fp32) return get<float>(payload, i);
  if (format == ElementFormat::int8) return get<std::int8_t>(payload, i);
  if (format == ElementFormat::bf16) return decode_float(get<std::uint16_t>(payload, i), kBf16);
  return decode_float(get<std::uint8_t>(payload, i), float_layout(format));
}

}  // namespace

std::size_t ReferenceCodec::group(std::size_t element) const {
  return format_.layout == ScaleLayout::strided ? element % kRegisterElements
                                                : element / format_.block;
}

void ReferenceCodec::find_absmax(std::span<const float> values, std::size_t first,
                                 std::span<float> absmax) const {
  if (!format_.scaled) return;
  for (std::size_t i = 0; i < values.size(); ++i) {
    float& largest = absmax[group(first + i)];
    const float magnitude = std::abs(values[i]);
    if (std::isnan(magnitude) || magnitude > largest) largest = magnitude;
  }
}

void ReferenceCodec::encode_scales(std::span<const float> absmax,
                                   std::span<std::byte> bytes) const {
  const auto largest_code = static_cast<float>(max_finite(format_.element));
  for (std::size_t g = 0; g < absmax.size(); ++g) {
    float scale = std::numeric_limits<float>::quiet_NaN();
    if (absmax[g] == 0.0F) {
      scale = 0.0F;
    } else if (std::isfinite(absmax[g])) {
      scale = std::max(absmax[g] / largest_code, 0x1p-126F);
    }
    if (format_.scale == ScaleFormat::bf16) {
      auto code = static_cast<std::uint16_t>(encode_float(scale, kBf16));
      while (std::isinf(decode_float(code, kBf16) * largest_code)) --code;
      put(code, bytes, g);
    } else {
      while (std::isinf(scale * largest_code)) scale = std::nextafter(scale, 0.0F);
      put(scale, bytes, g);
    }
  }
}

void ReferenceCodec::decode_scales(std::span<const std::byte> bytes,
                                   std::span<float> scales) const {
  for (std::size_t g = 0; g < scales.size(); ++g) {
    scales[g] = format_.scale == ScaleFormat::bf16
                    ? decode_float(get<std::uint16_t>(bytes, g), kBf16)
                    : get<float>(bytes, g);
  }
}

void ReferenceCodec::quantize(std::span<const float> values, std::size_t first,
                              std::span<const float> scales, std::span<std::byte> payload) const {
  for (std::size_t i = 0; i < values.size(); ++i) {
    float value = values[i];
    if (format_.scaled) value = value / scales[group(first + i)];
    if (format_.scaled && std::isnan(value)) value = 0.0F;
    put_element(value, format_.element, payload, i);
  }
}

void ReferenceCodec::dequantize(std::span<const std::byte> payload, std::size_t first,
                                std::span<const float> scales, std::span<float> values) const {
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = get_element(format_.element, payload, i);
    if (format_.scaled) values[i] *= scales[group(first + i)];
  }
}

void ReferenceCodec::dequantize_add(std::span<const std::byte> payload, std::size_t first,
                                    std::span<const float> scales, std::span<const float> local,
                                    std::span<float> sums) const {
  for (std::size_t i = 0; i < sums.size(); ++i) {
    float value = get_element(format_.element, payload, i);
    if (format_.scaled) value *= scales[group(first + i)];
    sums[i] = local[i] + value;
  }
}

}  // namespace equarx::numerics
