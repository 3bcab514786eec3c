// Formats and inputs shared by the codec tests, and helpers that run a codec.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <span>
#include <string>
#include <vector>

#include <hwy/highway.h>

#include "models/numerics/codec/block_codec.hpp"
#include "tests/catch.hpp"
#include "tests/support/reference_codec.hpp"

namespace equarx::numerics {

using testing::ReferenceCodec;

inline constexpr float kInf = std::numeric_limits<float>::infinity();
inline constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
inline constexpr float kMax = std::numeric_limits<float>::max();
inline constexpr float kTiny = std::numeric_limits<float>::denorm_min();

using Floats = std::vector<float>;
using Bytes = std::vector<std::byte>;

inline constexpr auto kScaledElements = {
    ElementFormat::int8,         ElementFormat::fp8_e4m3,     ElementFormat::fp8_e5m2,
    ElementFormat::fp8_e4m3fnuz, ElementFormat::fp8_e5m2fnuz, ElementFormat::int6,
    ElementFormat::int4,         ElementFormat::fp6_e2m3,     ElementFormat::fp6_e3m2,
    ElementFormat::fp4_e2m1,     ElementFormat::mxint8};
inline constexpr auto kScaleFormats = {ScaleFormat::fp32, ScaleFormat::bf16, ScaleFormat::e8m0,
                                       ScaleFormat::e4m3};

/// False for integers, whose scales are not rounded to even.
inline bool has_mantissa(ElementFormat element) {
  return name(element).find("int") == std::string_view::npos;
}

inline std::vector<BlockFormat> scaled_formats() {
  std::vector<BlockFormat> formats;
  for (auto element : kScaledElements) {
    for (auto scale : kScaleFormats) {
      formats.push_back({element, true, scale, ScaleLayout::strided, 0});
      for (std::size_t block : {1, 5, 32, 1000}) {
        formats.push_back({element, true, scale, ScaleLayout::contiguous, block});
      }
    }
  }
  for (auto element : kScaledElements)
    for (std::size_t block : {0, 5, 16}) {
      const ScaleLayout layout = block == 0 ? ScaleLayout::strided : ScaleLayout::contiguous;
      formats.push_back({element, true, ScaleFormat::e4m3, layout, block, Rounding::nearest, true});
    }
  for (auto element : kScaledElements)
    for (auto rounding : {ScaleRounding::up, ScaleRounding::even}) {
      if (rounding == ScaleRounding::even && !has_mantissa(element)) continue;
      formats.push_back({element, true, ScaleFormat::e8m0, ScaleLayout::contiguous, 32});
      formats.back().scale_rounding = rounding;
    }
  return formats;
}

inline std::vector<BlockFormat> all_formats() {
  std::vector<BlockFormat> formats = scaled_formats();
  for (auto element : {ElementFormat::fp32, ElementFormat::bf16, ElementFormat::fp16,
                       ElementFormat::int8, ElementFormat::fp8_e4m3, ElementFormat::fp8_e5m2,
                       ElementFormat::fp8_e4m3fnuz, ElementFormat::fp8_e5m2fnuz}) {
    formats.push_back({.element = element});
  }
  return formats;
}

// Runs a check with every instruction set of this machine.
template <class Check>
void on_every_target(Check check) {
  for (const std::int64_t target : hwy::SupportedAndGeneratedTargets()) {
    hwy::SetSupportedTargetsForTest(target);
    INFO("on " << hwy::TargetName(target));
    check();
    hwy::SetSupportedTargetsForTest(0);
  }
}

inline std::string describe(const BlockFormat& format) {
  return std::string(name(format.element)) + (format.scaled ? " scaled " : " plain ") +
         std::string(name(format.scale)) + " " + std::string(name(format.layout)) + " " +
         std::to_string(format.block) + (format.tensor_scale ? " with a tensor scale" : "") +
         " scales " + std::string(name(format.scale_rounding));
}

// Results of a codec for a minishard processed in pieces that end at `cuts`, with one payload per
// piece.
struct Result {
  Floats amax, scales, values, sums;
  Bytes wire_scales, payload;
};

template <class Codec>
Result run(const BlockFormat& format, const Floats& input, const std::vector<std::size_t>& cuts) {
  const Codec codec(format);
  const std::size_t count = input.size();
  Result r;
  r.amax.assign(scale_count(format, count), 0.0F);
  r.scales.resize(r.amax.size());
  r.wire_scales.resize(scales_bytes(format, r.amax.size()));
  r.values.resize(count);
  r.sums.resize(count);
  const auto each_piece = [&](auto act) {
    std::size_t first = 0;
    for (std::size_t end : cuts) {
      act(first, end - first);
      first = end;
    }
  };
  const std::span<const float> in = input;
  each_piece([&](auto at, auto n) { codec.find_amax(in.subspan(at, n), at, r.amax); });
  codec.encode_scales(r.amax, r.wire_scales);
  codec.decode_scales(r.wire_scales, r.scales);
  each_piece([&](auto at, auto n) {
    Bytes payload(payload_bytes(format, n));
    codec.quantize(in.subspan(at, n), at, r.scales, payload);
    codec.dequantize(payload, at, r.scales, std::span(r.values).subspan(at, n));
    codec.dequantize_add(payload, at, r.scales, in.subspan(at, n),
                         std::span(r.sums).subspan(at, n));
    r.payload.insert(r.payload.end(), payload.begin(), payload.end());
  });
  return r;
}

template <class Codec>
Result run(const BlockFormat& format, const Floats& input) {
  return run<Codec>(format, input, {input.size()});
}

// True if both are bit-identical, with all NaNs considered equal.
inline bool same(const Floats& a, const Floats& b) {
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (std::isnan(a[i]) && std::isnan(b[i])) continue;
    if (std::bit_cast<std::uint32_t>(a[i]) != std::bit_cast<std::uint32_t>(b[i])) return false;
  }
  return a.size() == b.size();
}

inline void require_same_values(const Result& fast, const Result& slow) {
  REQUIRE(same(fast.amax, slow.amax));
  REQUIRE(fast.wire_scales == slow.wire_scales);
  REQUIRE(same(fast.scales, slow.scales));
  REQUIRE(same(fast.values, slow.values));
  REQUIRE(same(fast.sums, slow.sums));
}

inline void require_same(const Result& fast, const Result& slow) {
  REQUIRE(fast.payload == slow.payload);
  require_same_values(fast, slow);
}

enum class Kind { normal, any_finite, any_bits, ties, tiny, huge, sparse };
inline constexpr auto kKinds = {Kind::normal, Kind::any_finite, Kind::any_bits, Kind::ties,
                                Kind::tiny,   Kind::huge,       Kind::sparse};

inline float draw(Kind kind, std::mt19937& random) {
  const auto bits = static_cast<std::uint32_t>(random());
  std::normal_distribution<float> normal;
  switch (kind) {
    case Kind::normal: return normal(random);
    case Kind::any_finite: {
      const float value = std::bit_cast<float>(bits);
      return std::isfinite(value) ? value : -0.0F;
    }
    case Kind::any_bits:
      if (bits % 3000 == 0) return kNan;
      if (bits % 3000 == 1) return -kInf;
      if (bits % 3000 == 2) return std::bit_cast<float>(0xffa12345U);  // signalling
      return normal(random);
    case Kind::ties:  // half-integers with an amax of 127 or 254: scales 1 and 2
      return static_cast<float>(static_cast<int>(bits % 509) - 254) * (bits & 1024 ? 0.5F : 1.0F);
    case Kind::tiny: return static_cast<float>(static_cast<int>(bits % 801) - 400) * kTiny;
    case Kind::huge:
      return bits % 2 == 0 ? kMax : -kMax * (static_cast<float>(bits % 1000) / 1000.0F);
    case Kind::sparse: return bits % 2000 == 0 ? normal(random) : (bits % 2 == 0 ? 0.0F : -0.0F);
  }
  return 0.0F;
}

inline Floats draw_many(Kind kind, std::size_t count, std::mt19937& random) {
  Floats values(count);
  for (float& value : values) value = draw(kind, random);
  return values;
}

inline BlockFormat format_of(ElementFormat element, ScaleFormat scale = ScaleFormat::fp32,
                             std::size_t block = 32) {
  return {element, true, scale, ScaleLayout::contiguous, block};
}

}  // namespace equarx::numerics
