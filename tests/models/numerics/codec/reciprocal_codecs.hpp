// Formats of the rules with reciprocal scales, and helpers that run their codecs.
#pragma once

#include "tests/models/numerics/codec/codecs.hpp"

namespace equarx::numerics::reciprocal_codecs {

inline BlockFormat published(ElementFormat element, ScaleRule rule, std::size_t block) {
  BlockFormat format = format_of(element, ScaleFormat::fp32, block);
  format.rule = rule;
  if (rule == ScaleRule::sdp4bit) format.rounding = Rounding::stochastic;
  return format;
}
inline BlockFormat zeropp(ElementFormat element, std::size_t block = 16) {
  return published(element, ScaleRule::zeropp, block);
}
inline BlockFormat sdp4bit(ElementFormat element, std::size_t block = 16) {
  return published(element, ScaleRule::sdp4bit, block);
}
inline constexpr auto kElements = {ElementFormat::int8, ElementFormat::int4};

inline constexpr RoundingKey kKey{7, 3, 5, 1000};

/// Results of encoding and decoding.
struct Coded {
  Floats scales, values;
  Bytes payload;
  std::vector<int> codes;
};
inline std::vector<int> unpacked(const BlockFormat& format, const Bytes& payload,
                                 std::size_t count) {
  std::vector<int> codes;
  for (std::size_t i = 0; i < count; ++i) {
    const int byte =
        std::to_integer<int>(payload[format.element == ElementFormat::int8 ? i : i / 2]);
    if (format.element == ElementFormat::int8)
      codes.push_back(byte < 128 ? byte : byte - 256);
    else
      codes.push_back(((i % 2 == 0 ? byte : byte >> 4) & 15) -
                      (((i % 2 == 0 ? byte : byte >> 4) & 8) != 0 ? 16 : 0));
  }
  return codes;
}
inline Coded code(const BlockFormat& format, const Floats& values, const RoundingKey& key = kKey) {
  const BlockCodec codec(format);
  Floats amax(scale_count(format, values.size()));
  codec.find_amax(values, 0, amax);
  Bytes bytes(scales_bytes(format, amax.size()));
  codec.encode_scales(amax, bytes);
  Coded coded{
      Floats(amax.size()), Floats(values.size()), Bytes(payload_bytes(format, values.size())), {}};
  codec.decode_scales(bytes, coded.scales);
  codec.quantize(values, 0, coded.scales, coded.payload, key);
  codec.dequantize(coded.payload, 0, coded.scales, coded.values);
  coded.codes = unpacked(format, coded.payload, values.size());
  return coded;
}

inline Floats normal_values(std::mt19937& random, std::size_t count, float spread) {
  std::normal_distribution<float> normal;
  Floats values(count);
  for (float& value : values) value = spread * normal(random);
  return values;
}

}  // namespace equarx::numerics::reciprocal_codecs
