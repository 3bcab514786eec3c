#include "tests/support/reference_codec.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <stdexcept>

namespace equarx::testing {

using namespace numerics;

namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

// A binary floating-point format, by its definition.
struct FloatLayout {
  int mantissa_bits;
  int min_exponent;  // exponent of the smallest normal value
  int sign_bit;
  double max_finite;
  bool has_inf;
  bool saturates;
  std::uint32_t inf_code;
  std::uint32_t nan_code;
  bool has_minus_zero = true;  // else its code means NaN
};

constexpr FloatLayout kBf16{7, -126, 15, 0x1.FEp127, true, false, 0x7f80, 0x7fc0};
constexpr FloatLayout kFp16{10, -14, 15, 65504.0, true, false, 0x7c00, 0x7e00};
constexpr FloatLayout kE4m3{3, -6, 7, 448.0, false, true, 0x7f, 0x7f};
constexpr FloatLayout kE5m2{2, -14, 7, 57344.0, true, true, 0x7c, 0x7e};
constexpr FloatLayout kE4m3Fnuz{3, -7, 7, 240.0, false, true, 0x80, 0x80, false};
constexpr FloatLayout kE5m2Fnuz{2, -15, 7, 57344.0, false, true, 0x80, 0x80, false};
// No Inf and no NaN: Inf becomes the largest code, NaN zero.
constexpr FloatLayout kE2m3{3, 0, 5, 7.5, false, true, 0x1f, 0};
constexpr FloatLayout kE3m2{2, -2, 5, 28.0, false, true, 0x1f, 0};
constexpr FloatLayout kE2m1{1, 0, 3, 6.0, false, true, 0x07, 0};

FloatLayout float_layout(ElementFormat format) {
  switch (format) {
    case ElementFormat::bf16: return kBf16;
    case ElementFormat::fp8_e4m3: return kE4m3;
    case ElementFormat::fp8_e5m2: return kE5m2;
    case ElementFormat::fp8_e4m3fnuz: return kE4m3Fnuz;
    case ElementFormat::fp8_e5m2fnuz: return kE5m2Fnuz;
    case ElementFormat::fp16: return kFp16;
    case ElementFormat::fp6_e2m3: return kE2m3;
    case ElementFormat::fp6_e3m2: return kE3m2;
    case ElementFormat::fp4_e2m1: return kE2m1;
    case ElementFormat::fp32:
    case ElementFormat::int8:
    case ElementFormat::int6:
    case ElementFormat::int4:
    case ElementFormat::mxint8:
    case ElementFormat::exp8: break;
  }
  throw std::logic_error("float_layout: not a format with a layout");
}

std::uint32_t encode_magnitude(double magnitude, const FloatLayout& layout) {
  if (std::isinf(magnitude)) return layout.inf_code;
  if (magnitude == 0.0) return 0;
  int exponent = std::max(std::ilogb(magnitude), layout.min_exponent);
  const double step = std::ldexp(1.0, exponent - layout.mantissa_bits);
  double rounded = std::nearbyint(magnitude / step) * step;  // exact except for nearbyint
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
    if (layout.sign_bit == kBf16.sign_bit) {  // 16-bit formats keep as much of the payload as fits
      std::uint32_t bits = 0;
      std::memcpy(&bits, &value, sizeof(bits));
      code |= (bits & 0x7fffff) >> (23 - layout.mantissa_bits);
    }
    return sign | code;
  }
  const std::uint32_t code = encode_magnitude(std::abs(static_cast<double>(value)), layout);
  return code == 0 && !layout.has_minus_zero ? 0U : sign | code;
}

float decode_float(std::uint32_t code, const FloatLayout& layout) {
  const std::uint32_t magnitude = code & ((1U << layout.sign_bit) - 1);
  if (code == layout.nan_code && !layout.has_minus_zero)
    return std::numeric_limits<float>::quiet_NaN();
  double value = 0.0;
  if (magnitude == layout.inf_code && layout.has_inf) {
    value = kInf;
  } else if (magnitude >= layout.inf_code && layout.nan_code != 0) {
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

// Integers: the largest code, and the number of codes that equal 1.
struct IntegerLayout {
  double largest_code;
  double codes_per_unit;
};

bool is_integer(ElementFormat format) {
  return format == ElementFormat::int8 || format == ElementFormat::int6 ||
         format == ElementFormat::int4 || format == ElementFormat::mxint8;
}

IntegerLayout integer_layout(ElementFormat format) {
  if (format == ElementFormat::int4) return {7.0, 1.0};
  if (format == ElementFormat::int6) return {31.0, 1.0};
  return {127.0, format == ElementFormat::mxint8 ? 64.0 : 1.0};
}

double max_finite(ElementFormat format) {
  if (format == ElementFormat::fp32) return std::numeric_limits<float>::max();
  if (is_integer(format)) {
    return integer_layout(format).largest_code / integer_layout(format).codes_per_unit;
  }
  return float_layout(format).max_finite;
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

// Bit by bit, the lowest first.
void put_bits(std::uint32_t code, int bits, std::span<std::byte> payload, std::size_t index) {
  for (int bit = 0; bit < bits; ++bit) {
    const std::size_t place =
        index * static_cast<std::size_t>(bits) + static_cast<std::size_t>(bit);
    const auto mask = static_cast<std::byte>(1U << (place % 8));
    payload[place / 8] &= ~mask;
    if ((code >> bit & 1U) != 0) payload[place / 8] |= mask;
  }
}

std::uint32_t get_bits(int bits, std::span<const std::byte> payload, std::size_t index) {
  std::uint32_t code = 0;
  for (int bit = 0; bit < bits; ++bit) {
    const std::size_t place =
        index * static_cast<std::size_t>(bits) + static_cast<std::size_t>(bit);
    code |= (std::to_integer<std::uint32_t>(payload[place / 8]) >> (place % 8) & 1U) << bit;
  }
  return code;
}

void put_element(float value, ElementFormat format, std::span<std::byte> payload, std::size_t i) {
  const int bits = static_cast<int>(element_bits(format));
  if (format == ElementFormat::fp32) {
    put(value, payload, i);
  } else if (is_integer(format)) {
    const IntegerLayout layout = integer_layout(format);
    double code = std::isnan(value) ? 0.0 : std::nearbyint(value * layout.codes_per_unit);
    code = std::clamp(code, -layout.largest_code, layout.largest_code);
    put_bits(static_cast<std::uint32_t>(static_cast<std::int32_t>(code)), bits, payload, i);
  } else {
    put_bits(encode_float(value, float_layout(format)), bits, payload, i);
  }
}

// Rounds to a value of the format: the one below in magnitude, or the next one if `random`, in [0,
// 1), is below the distance in steps.
float randomly_rounded(float value, ElementFormat format, double random) {
  const double size = std::abs(static_cast<double>(value));
  if (!(size < max_finite(format))) return value;
  double step = 1.0;
  if (!is_integer(format) && size != 0.0) {
    const FloatLayout layout = float_layout(format);
    step = std::ldexp(1.0, std::max(std::ilogb(size), layout.min_exponent) - layout.mantissa_bits);
  }
  const double below = std::floor(size / step);
  const double code = below + (random < size / step - below ? 1.0 : 0.0);
  return static_cast<float>(std::copysign(code * step, static_cast<double>(value)));
}

float get_element(ElementFormat format, std::span<const std::byte> payload, std::size_t i) {
  if (format == ElementFormat::fp32) return get<float>(payload, i);
  const int bits = static_cast<int>(element_bits(format));
  const std::uint32_t code = get_bits(bits, payload, i);
  if (!is_integer(format)) return decode_float(code, float_layout(format));
  const bool negative = code >> (bits - 1) != 0;
  const double integer = static_cast<double>(code) - (negative ? std::ldexp(1.0, bits) : 0.0);
  return static_cast<float>(integer / integer_layout(format).codes_per_unit);
}

// The code of a scale, by the rules of BlockCodec.
float raw_scale(float amax, double largest, double smallest) {
  if (amax == 0.0F) return 0.0F;
  if (!std::isfinite(amax)) return std::numeric_limits<float>::quiet_NaN();
  return std::max(amax / static_cast<float>(largest), static_cast<float>(smallest));
}

// amax rounded to the mantissa of the element, to nearest even.
double rounded_amax(double amax, ElementFormat element) {
  const double step = std::ldexp(1.0, std::ilogb(amax) - float_layout(element).mantissa_bits);
  return std::nearbyint(amax / step) * step;
}

std::uint8_t power_of_two_scale(double amax, const BlockFormat& format) {
  if (!std::isfinite(amax)) return 0xff;
  if (amax == 0.0) return 0;
  const double largest = max_finite(format.element);
  int exponent = -127;
  if (format.scale_rounding == ScaleRounding::up) {
    while (exponent < 127 && amax > std::ldexp(largest, exponent)) ++exponent;
  } else {
    const bool even = format.scale_rounding == ScaleRounding::even;
    const double used = even ? rounded_amax(amax, format.element) : amax;
    exponent = std::max(std::ilogb(used) - std::ilogb(largest), exponent);
  }
  return static_cast<std::uint8_t>(exponent + 127);
}

// Unit of E4M3 scales, if the tensor has a scale; else 1.
float tensor_scale(const BlockFormat& format, std::span<const float> amax) {
  if (!format.tensor_scale) return 1.0F;
  const auto largest = static_cast<float>(max_finite(format.element));
  float most = 0.0F;
  for (const float one : amax)
    if (std::isfinite(one)) most = std::max(most, one);
  float scale = std::max(most / (448.0F * largest), 0x1p-117F);
  while (std::isinf(448.0F * scale * largest)) scale = std::nextafter(scale, 0.0F);
  return scale;
}

}  // namespace

std::size_t ReferenceCodec::group(std::size_t element) const {
  return format_.layout == ScaleLayout::strided ? element % kRegisterElements
                                                : element / format_.block;
}

void ReferenceCodec::find_amax(std::span<const float> values, std::size_t first,
                               std::span<float> amax) const {
  if (!format_.scaled) return;
  for (std::size_t i = 0; i < values.size(); ++i) {
    float& largest = amax[group(first + i)];
    const float magnitude = std::abs(values[i]);
    if (std::isnan(magnitude) || magnitude > largest) largest = magnitude;
  }
}

void ReferenceCodec::encode_scales(std::span<const float> amax, std::span<std::byte> bytes) const {
  const float unit = tensor_scale(format_, amax);
  if (format_.tensor_scale) {
    put(unit, bytes, 0);
    bytes = bytes.subspan(sizeof unit);
  }
  const double largest = static_cast<float>(max_finite(format_.element)) * unit;
  const auto overflows = [&](float scale) {
    return std::isinf(scale * static_cast<float>(largest));
  };
  for (std::size_t g = 0; g < amax.size(); ++g) {
    float scale = raw_scale(amax[g], largest, 0x1p-126);
    if (format_.scale == ScaleFormat::fp32) {
      while (overflows(scale)) scale = std::nextafter(scale, 0.0F);
      put(scale, bytes, g);
    } else if (format_.scale == ScaleFormat::bf16) {
      auto code = static_cast<std::uint16_t>(encode_float(scale, kBf16));
      while (overflows(decode_float(code, kBf16))) --code;
      put(code, bytes, g);
    } else if (format_.scale == ScaleFormat::e4m3) {
      scale = raw_scale(amax[g], largest, 0x1p-9);
      put(static_cast<std::uint8_t>(encode_float(scale, kE4m3)), bytes, g);
    } else {
      put(power_of_two_scale(amax[g], format_), bytes, g);
    }
  }
}

void ReferenceCodec::decode_scales(std::span<const std::byte> bytes,
                                   std::span<float> scales) const {
  float unit = 1.0F;
  if (format_.tensor_scale) {
    unit = get<float>(bytes, 0);
    bytes = bytes.subspan(sizeof unit);
  }
  for (std::size_t g = 0; g < scales.size(); ++g) {
    switch (format_.scale) {
      case ScaleFormat::fp32: scales[g] = get<float>(bytes, g); break;
      case ScaleFormat::bf16: scales[g] = decode_float(get<std::uint16_t>(bytes, g), kBf16); break;
      case ScaleFormat::e4m3: scales[g] = decode_float(get<std::uint8_t>(bytes, g), kE4m3); break;
      case ScaleFormat::fp16: throw std::logic_error("see reference_quickreduce.hpp");
      case ScaleFormat::e8m0: {
        const int code = get<std::uint8_t>(bytes, g);
        scales[g] = code == 0xff ? std::numeric_limits<float>::quiet_NaN()
                                 : static_cast<float>(std::ldexp(1.0, code - 127));
        break;
      }
    }
    scales[g] *= unit;
  }
}

void ReferenceCodec::quantize(std::span<const float> values, std::size_t first,
                              std::span<const float> scales, std::span<std::byte> payload,
                              const RoundingKey& key) const {
  for (std::size_t i = 0; i < values.size(); ++i) {
    float value = values[i];
    if (format_.scaled) value = value / scales[group(first + i)];
    if (format_.scaled && std::isnan(value)) value = 0.0F;
    if (format_.rounding == Rounding::stochastic) {
      const std::uint64_t element = key.first_element + i;
      const std::uint32_t word = rounding_words(key, element / 4)[element % 4];
      value = randomly_rounded(value, format_.element, (word >> 8) * 0x1p-24);
    }
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

}  // namespace equarx::testing
