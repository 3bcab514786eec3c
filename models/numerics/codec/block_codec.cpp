#include "models/numerics/codec/block_codec.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <climits>
#include <cmath>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <string>

#include "models/numerics/elements/bfloat16.hpp"
#include "models/numerics/elements/bit_packing.hpp"
#include "models/numerics/elements/element_codecs.hpp"
#include "models/numerics/kernels/kernels.hpp"

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

// Elements that are packed or unpacked at once. A multiple of 8, so that whole bytes are.
constexpr std::size_t kPackedChunk = 1024;
using CodeChunk = std::array<std::byte, kPackedChunk>;

bool is_packed(ElementFormat format) { return element_bits(format) < CHAR_BIT; }

void pack(ElementFormat format, const std::byte* codes, std::size_t count, std::byte* packed) {
  if (element_bits(format) == 6) return pack_codes<6>(codes, count, packed);
  pack_codes<4>(codes, count, packed);
}

void unpack(ElementFormat format, const std::byte* packed, std::size_t count, std::byte* codes) {
  if (element_bits(format) == 6) return unpack_codes<6, false>(packed, count, codes);
  if (format == ElementFormat::int4) return unpack_codes<4, true>(packed, count, codes);
  unpack_codes<4, false>(packed, count, codes);
}

// Calls act(offset, length, bytes) for pieces of at most kPackedChunk elements.
template <class Bytes, class Act>
void in_packed_chunks(ElementFormat format, std::size_t count, Bytes* payload, Act act) {
  for (std::size_t done = 0; done < count; done += kPackedChunk) {
    act(done, std::min(kPackedChunk, count - done),
        payload + done * element_bits(format) / CHAR_BIT);
  }
}

void check_equal(const char* what, std::size_t got, std::size_t expected) {
  if (got != expected) {
    throw std::invalid_argument(std::string(what) + ": got " + std::to_string(got) + ", needs " +
                                std::to_string(expected));
  }
}

// Formats that are casts of a value, and those that are parts of a block.
bool may_be_scaled(ElementFormat format) {
  return format != ElementFormat::fp32 && format != ElementFormat::bf16 &&
         format != ElementFormat::fp16;
}

bool may_be_plain(ElementFormat format) {
  return !may_be_scaled(format) || format == ElementFormat::int8 ||
         format == ElementFormat::fp8_e4m3 || format == ElementFormat::fp8_e5m2;
}

bool may_be_stochastic(ElementFormat format) {
  return format == ElementFormat::int8 || format == ElementFormat::fp8_e4m3 ||
         format == ElementFormat::fp8_e5m2;
}

void check_format(const BlockFormat& format) {
  if (format.scaled && !may_be_scaled(format.element)) {
    throw std::invalid_argument(std::string(name(format.element)) +
                                " with scales: use it without, or use int8 or an FP8 format");
  }
  if (!format.scaled && !may_be_plain(format.element)) {
    throw std::invalid_argument(std::string(name(format.element)) +
                                " without scales: its range is too small, so set scaled");
  }
  if (format.rounding == Rounding::stochastic && !may_be_stochastic(format.element)) {
    throw std::invalid_argument(std::string(name(format.element)) +
                                " with stochastic rounding: that is for int8 and FP8");
  }
  scale_count(format, 0);  // throws for blocks of 0 elements
}

}  // namespace

BlockCodec::BlockCodec(BlockFormat format) : format_(format) { check_format(format_); }

void BlockCodec::check_scales(std::size_t scales, std::size_t first, std::size_t elements) const {
  // The length of the minishard is not known here, only that it reaches to the end of this piece.
  const std::size_t needed = scale_count(format_, first + elements);
  const bool longest = !format_.scaled || format_.layout == ScaleLayout::strided;
  const std::size_t allowed = !format_.scaled ? 0 : kRegisterElements;
  if (scales < needed || (longest && scales > allowed)) {
    throw std::invalid_argument("scales: got " + std::to_string(scales) + ", elements up to " +
                                std::to_string(first + elements) + " of a minishard need " +
                                std::to_string(needed));
  }
}

RoundingKey BlockCodec::checked(const std::optional<RoundingKey>& key) const {
  if (format_.rounding == Rounding::nearest) return {};
  if (!key)
    throw std::invalid_argument("stochastic rounding without a key: give seed, rank, hop, element");
  return *key;
}

void BlockCodec::check_payload(std::size_t bytes, std::size_t elements) const {
  check_equal("bytes of payload", bytes, payload_bytes(format_, elements));
}

void BlockCodec::find_absmax(std::span<const float> values, std::size_t first,
                             std::span<float> absmax) const {
  check_scales(absmax.size(), first, values.size());
  if (format_.scaled) kernels::find_absmax({format_, first}, values, absmax.data());
}

void BlockCodec::encode_scales(std::span<const float> absmax, std::span<std::byte> bytes) const {
  check_equal("bytes of scales", bytes.size(), absmax.size() * scale_bytes(format_.scale));
  const float largest = largest_value(format_.element);
  const auto encode_all = [&](auto encode) {
    for (std::size_t g = 0; g < absmax.size(); ++g)
      store(encode(absmax[g], largest), bytes.data(), g);
  };
  switch (format_.scale) {
    case ScaleFormat::fp32: return encode_all([](float a, float m) { return fp32_scale(a, m); });
    case ScaleFormat::bf16: return encode_all([](float a, float m) { return bf16_scale(a, m); });
    case ScaleFormat::e8m0: return encode_all([](float a, float m) { return e8m0_scale(a, m); });
    case ScaleFormat::e4m3: return encode_all([](float a, float m) { return e4m3_scale(a, m); });
  }
}

void BlockCodec::decode_scales(std::span<const std::byte> bytes, std::span<float> scales) const {
  check_equal("bytes of scales", bytes.size(), scales.size() * scale_bytes(format_.scale));
  const auto decode_all = [&](auto decode) {
    for (std::size_t g = 0; g < scales.size(); ++g) scales[g] = decode(bytes.data(), g);
  };
  switch (format_.scale) {
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

void BlockCodec::quantize(std::span<const float> values, std::size_t first,
                          std::span<const float> scales, std::span<std::byte> payload,
                          const std::optional<RoundingKey>& key) const {
  check_scales(scales.size(), first, values.size());
  check_payload(payload.size(), values.size());
  const kernels::Piece piece{format_, first, scales.data(), checked(key)};
  const ElementFormat element = format_.element;
  if (!is_packed(element)) return kernels::quantize(piece, values, payload.data());
  in_packed_chunks(element, values.size(), payload.data(),
                   [&](std::size_t done, std::size_t length, std::byte* bytes) {
                     CodeChunk codes;
                     kernels::quantize({format_, first + done, scales.data()},
                                       values.subspan(done, length), codes.data());
                     pack(element, codes.data(), length, bytes);
                   });
}

void BlockCodec::dequantize(std::span<const std::byte> payload, std::size_t first,
                            std::span<const float> scales, std::span<float> values) const {
  check_scales(scales.size(), first, values.size());
  check_payload(payload.size(), values.size());
  const ElementFormat element = format_.element;
  if (!is_packed(element))
    return kernels::dequantize({format_, first, scales.data()}, payload.data(), values);
  in_packed_chunks(element, values.size(), payload.data(),
                   [&](std::size_t done, std::size_t length, const std::byte* bytes) {
                     CodeChunk codes;
                     unpack(element, bytes, length, codes.data());
                     kernels::dequantize({format_, first + done, scales.data()}, codes.data(),
                                         values.subspan(done, length));
                   });
}

void BlockCodec::dequantize_add(std::span<const std::byte> payload, std::size_t first,
                                std::span<const float> scales, std::span<const float> local,
                                std::span<float> sums) const {
  add_to(payload, first, scales, local, sums, nullptr);
}

void BlockCodec::dequantize_add_absmax(std::span<const std::byte> payload, std::size_t first,
                                       std::span<const float> scales, std::span<const float> local,
                                       std::span<float> sums, std::span<float> absmax) const {
  check_scales(absmax.size(), first, sums.size());
  add_to(payload, first, scales, local, sums, format_.scaled ? absmax.data() : nullptr);
}

void BlockCodec::add_to(std::span<const std::byte> payload, std::size_t first,
                        std::span<const float> scales, std::span<const float> local,
                        std::span<float> sums, float* absmax) const {
  check_scales(scales.size(), first, sums.size());
  check_payload(payload.size(), sums.size());
  check_equal("local values", local.size(), sums.size());
  const ElementFormat element = format_.element;
  if (!is_packed(element))
    return kernels::dequantize_add({format_, first, scales.data()}, payload.data(), local.data(),
                                   sums, absmax);
  in_packed_chunks(element, sums.size(), payload.data(),
                   [&](std::size_t done, std::size_t length, const std::byte* bytes) {
                     CodeChunk codes;
                     unpack(element, bytes, length, codes.data());
                     kernels::dequantize_add({format_, first + done, scales.data()}, codes.data(),
                                             local.data() + done, sums.subspan(done, length),
                                             absmax);
                   });
}

QuantizeCounts BlockCodec::count(std::span<const float> values, std::size_t first,
                                 std::span<const float> scales,
                                 const std::optional<RoundingKey>& key) const {
  check_scales(scales.size(), first, values.size());
  return kernels::count({format_, first, scales.data(), checked(key)}, values);
}

}  // namespace equarx::numerics
