#include "models/numerics/codec/block_codec.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include <hwy/highway.h>

#include "tests/catch.hpp"
#include "tests/support/reference_codec.hpp"

using namespace equarx::numerics;

namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kMax = std::numeric_limits<float>::max();
constexpr float kTiny = std::numeric_limits<float>::denorm_min();

using Floats = std::vector<float>;
using Bytes = std::vector<std::byte>;

constexpr auto kScaledElements = {ElementFormat::int8,     ElementFormat::fp8_e4m3,
                                  ElementFormat::fp8_e5m2, ElementFormat::int4,
                                  ElementFormat::fp6_e2m3, ElementFormat::fp6_e3m2,
                                  ElementFormat::fp4_e2m1, ElementFormat::mxint8};
constexpr auto kScaleFormats = {ScaleFormat::fp32, ScaleFormat::bf16, ScaleFormat::e8m0,
                                ScaleFormat::e4m3};

std::vector<BlockFormat> scaled_formats() {
  std::vector<BlockFormat> formats;
  for (auto element : kScaledElements) {
    for (auto scale : kScaleFormats) {
      formats.push_back({element, true, scale, ScaleLayout::strided, 0});
      for (std::size_t block : {1, 5, 32, 1000}) {
        formats.push_back({element, true, scale, ScaleLayout::contiguous, block});
      }
    }
  }
  return formats;
}

std::vector<BlockFormat> all_formats() {
  std::vector<BlockFormat> formats = scaled_formats();
  for (auto element : {ElementFormat::fp32, ElementFormat::bf16, ElementFormat::fp16,
                       ElementFormat::int8, ElementFormat::fp8_e4m3, ElementFormat::fp8_e5m2}) {
    formats.push_back({.element = element});
  }
  return formats;
}

// Runs a check with every instruction set that this machine has.
template <class Check>
void on_every_target(Check check) {
  for (const std::int64_t target : hwy::SupportedAndGeneratedTargets()) {
    hwy::SetSupportedTargetsForTest(target);
    INFO("on " << hwy::TargetName(target));
    check();
    hwy::SetSupportedTargetsForTest(0);
  }
}

std::string describe(const BlockFormat& format) {
  return std::string(name(format.element)) + (format.scaled ? " scaled " : " plain ") +
         std::string(name(format.scale)) + " " + std::string(name(format.layout)) + " " +
         std::to_string(format.block);
}

// What a codec makes of a minishard that it sees in pieces that end at `cuts`. Each piece has a
// payload of its own.
struct Result {
  Floats absmax, scales, values, sums;
  Bytes wire_scales, payload;
};

template <class Codec>
Result run(const BlockFormat& format, const Floats& input, const std::vector<std::size_t>& cuts) {
  const Codec codec(format);
  const std::size_t count = input.size();
  Result r;
  r.absmax.assign(scale_count(format, count), 0.0F);
  r.scales.resize(r.absmax.size());
  r.wire_scales.resize(r.absmax.size() * scale_bytes(format.scale));
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
  each_piece([&](auto at, auto n) { codec.find_absmax(in.subspan(at, n), at, r.absmax); });
  codec.encode_scales(r.absmax, r.wire_scales);
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

// Bit for bit, except that every NaN is as good as any other.
bool same(const Floats& a, const Floats& b) {
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (std::isnan(a[i]) && std::isnan(b[i])) continue;
    if (std::bit_cast<std::uint32_t>(a[i]) != std::bit_cast<std::uint32_t>(b[i])) return false;
  }
  return a.size() == b.size();
}

void require_same_values(const Result& fast, const Result& slow) {
  REQUIRE(same(fast.absmax, slow.absmax));
  REQUIRE(fast.wire_scales == slow.wire_scales);
  REQUIRE(same(fast.scales, slow.scales));
  REQUIRE(same(fast.values, slow.values));
  REQUIRE(same(fast.sums, slow.sums));
}

void require_same(const Result& fast, const Result& slow) {
  REQUIRE(fast.payload == slow.payload);
  require_same_values(fast, slow);
}

enum class Kind { normal, any_finite, any_bits, ties, tiny, huge, sparse };
constexpr auto kKinds = {Kind::normal, Kind::any_finite, Kind::any_bits, Kind::ties,
                         Kind::tiny,   Kind::huge,       Kind::sparse};

float draw(Kind kind, std::mt19937& random) {
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
    case Kind::ties:  // half integers up to an abs-max of 127 or 254: scales 1 and 2
      return static_cast<float>(static_cast<int>(bits % 509) - 254) * (bits & 1024 ? 0.5F : 1.0F);
    case Kind::tiny: return static_cast<float>(static_cast<int>(bits % 801) - 400) * kTiny;
    case Kind::huge:
      return bits % 2 == 0 ? kMax : -kMax * (static_cast<float>(bits % 1000) / 1000.0F);
    case Kind::sparse: return bits % 2000 == 0 ? normal(random) : (bits % 2 == 0 ? 0.0F : -0.0F);
  }
  return 0.0F;
}

Floats draw_many(Kind kind, std::size_t count, std::mt19937& random) {
  Floats values(count);
  for (float& value : values) value = draw(kind, random);
  return values;
}

BlockFormat format_of(ElementFormat element, ScaleFormat scale = ScaleFormat::fp32,
                      std::size_t block = 32) {
  return {element, true, scale, ScaleLayout::contiguous, block};
}

}  // namespace

TEST_CASE("agrees with the reference bit for bit: formats, inputs, lengths") {
  std::mt19937 random(17);
  for (const BlockFormat& format : all_formats()) {
    for (Kind kind : kKinds) {
      for (std::size_t length : {1, 2, 15, 17, 1023, 1024, 1025, 3000, 4096}) {
        const Floats input = draw_many(kind, length, random);
        INFO(describe(format) << ", inputs " << static_cast<int>(kind) << ", " << length);
        const Result expected = run<ReferenceCodec>(format, input);
        on_every_target([&] { require_same(run<BlockCodec>(format, input), expected); });
      }
    }
  }
}

TEST_CASE("agrees with the reference at every length and offset around a vector") {
  std::mt19937 random(23);
  for (const BlockFormat& format : all_formats()) {
    if (format.scaled && format.scale != ScaleFormat::fp32) continue;
    for (std::size_t length = 0; length <= 70; ++length) {
      const std::size_t before = random() % 70;
      const Floats input = draw_many(Kind::any_bits, before + length, random);
      const std::vector<std::size_t> cuts{before, before + length};
      INFO(describe(format) << ", " << length << " after " << before);
      const Result expected = run<ReferenceCodec>(format, input, cuts);
      on_every_target([&] { require_same(run<BlockCodec>(format, input, cuts), expected); });
    }
  }
}

TEST_CASE("scales that do not fit the values: every combination of what is special") {
  const Floats special{0.0F,    -0.0F,         kTiny,  -kTiny,   0x1p-127F, 0x1p-126F, 1e-20F,
                       0.5F,    1.0F,          -1.5F,  126.5F,   127.5F,    -128.5F,   4194303.5F,
                       -4.2e6F, -1.2582913e7F, 1.3e7F, -1e9F,    1e30F,     kMax,      -kMax,
                       kInf,    -kInf,         kNan,   0x1p126F, 0x1p127F};
  for (auto element : kScaledElements) {
    for (const float scale : special) {
      // 32 a block: the value, and then values that fit.
      for (const float value : special) {
        Floats input(64, scale);
        input[0] = input[40] = value;
        const BlockFormat format = {element, true, ScaleFormat::fp32, ScaleLayout::contiguous, 64};
        const Floats scales{scale};
        Bytes expected(payload_bytes(format, 64));
        ReferenceCodec(format).quantize(input, 0, scales, expected);
        on_every_target([&] {
          Bytes payload(expected.size());
          BlockCodec(format).quantize(input, 0, scales, payload);
          if (payload != expected) FAIL(describe(format) << ": " << value << " / " << scale);
        });
      }
    }
  }
  SUCCEED();
}

TEST_CASE("integers: quotients within an ulp of the middle of two codes") {
  std::mt19937 random(29);
  std::uniform_real_distribution<float> mantissa(1.0F, 2.0F);
  const BlockFormat blocks{ElementFormat::int8, true, ScaleFormat::fp32, ScaleLayout::contiguous,
                           4096};
  const BlockFormat strided{ElementFormat::int8, true, ScaleFormat::fp32, ScaleLayout::strided, 0};
  for (int repeat = 0; repeat < 200; ++repeat) {
    Floats scales(kRegisterElements);
    for (float& scale : scales) scale = mantissa(random);
    Floats input(4 * kRegisterElements);
    for (const BlockFormat& format : {blocks, strided}) {
      for (std::size_t e = 0; e < input.size(); ++e) {
        const float scale = format == blocks ? scales[0] : scales[e % kRegisterElements];
        const auto middle = static_cast<float>(static_cast<int>(random() % 256) - 128) + 0.5F;
        input[e] = middle * scale;
        if (e % 3 == 1) input[e] = std::nextafter(input[e], kInf);
        if (e % 3 == 2) input[e] = std::nextafter(input[e], -kInf);
      }
      Bytes expected(input.size());
      ReferenceCodec(format).quantize(input, 0, scales, expected);
      on_every_target([&] {
        Bytes payload(input.size());
        BlockCodec(format).quantize(
            input, 0, format == blocks ? std::span(scales).first(1) : std::span(scales), payload);
        REQUIRE(payload == expected);
      });
    }
  }
}

TEST_CASE("adding and finding the abs-max at once is doing one after the other") {
  std::mt19937 random(31);
  for (const BlockFormat& format : all_formats()) {
    const BlockCodec codec(format);
    for (Kind kind : {Kind::normal, Kind::any_bits}) {
      for (std::size_t first : {0, 1024, 37}) {
        for (std::size_t length : {1, 31, 1024, 2048, 5000}) {
          const Floats input = draw_many(kind, first + length, random);
          const Floats local = draw_many(kind, length, random);
          const Result message = run<ReferenceCodec>(format, input, {first, first + length});
          const auto payload = std::span(message.payload).subspan(payload_bytes(format, first));
          Floats expected_sums(length);
          Floats expected_absmax = message.absmax;
          ReferenceCodec(format).dequantize_add(payload, first, message.scales, local,
                                                expected_sums);
          ReferenceCodec(format).find_absmax(expected_sums, first, expected_absmax);
          INFO(describe(format) << ", " << length << " at " << first);
          on_every_target([&] {
            Floats sums(length);
            Floats absmax = message.absmax;
            codec.dequantize_add_absmax(payload, first, message.scales, local, sums, absmax);
            REQUIRE(same(sums, expected_sums));
            REQUIRE(same(absmax, expected_absmax));
            Floats in_place = local;
            codec.dequantize_add_absmax(payload, first, message.scales, in_place, in_place, absmax);
            REQUIRE(same(in_place, expected_sums));
          });
        }
      }
    }
  }
}

TEST_CASE("counts are those of one element at a time") {
  std::mt19937 random(37);
  for (const BlockFormat& format : all_formats()) {
    const BlockCodec codec(format);
    for (Kind kind : {Kind::normal, Kind::any_bits, Kind::any_finite, Kind::sparse}) {
      const Floats input = draw_many(kind, 2100, random);
      Floats scales = run<ReferenceCodec>(format, input).scales;
      for (float& scale : scales) scale *= 0.9F;  // some clip
      QuantizeCounts expected;
      for (std::size_t e = 0; e < input.size(); ++e)
        expected += codec.count(std::span(input).subspan(e, 1), e, scales);
      INFO(describe(format) << " " << static_cast<int>(kind));
      on_every_target([&] { REQUIRE(codec.count(input, 0, scales) == expected); });
    }
  }
}

TEST_CASE("pieces at any offset give what the whole minishard gives") {
  std::mt19937 random(18);
  for (const BlockFormat& format : all_formats()) {
    for (std::size_t length : {1, 1023, 1025, 5000}) {
      const Floats input = draw_many(Kind::normal, length, random);
      const Result whole = run<ReferenceCodec>(format, input);
      for (int repeat = 0; repeat < 3; ++repeat) {
        std::vector<std::size_t> cuts;
        for (std::size_t end = 0; end < length;) {
          const std::size_t longest = repeat == 0 ? 40 : 2100;
          end = std::min<std::size_t>(length, end + random() % longest);  // empty pieces too
          cuts.push_back(end);
        }
        INFO(describe(format) << ", " << length << " in " << cuts.size() << " pieces");
        require_same_values(run<BlockCodec>(format, input, cuts), whole);
      }
    }
  }
}

TEST_CASE("sums may replace the local values") {
  std::mt19937 random(19);
  for (const BlockFormat& format : all_formats()) {
    const Floats input = draw_many(Kind::normal, 2500, random);
    const Result result = run<ReferenceCodec>(format, input);
    Floats sums = input;
    BlockCodec(format).dequantize_add(result.payload, 0, result.scales, sums, sums);
    REQUIRE(same(sums, result.sums));
  }
}

TEST_CASE("int8 codes by hand: nearest even, and never -128") {
  const Floats input{127.0F, -127.0F, 0.5F, 1.5F, 2.5F, -0.5F, -1.5F, -2.5F, 63.4999F, -0.0F};
  const Result r = run<BlockCodec>(format_of(ElementFormat::int8), input);
  const std::vector<int> expected{127, -127, 0, 2, 2, 0, -2, -2, 63, 0};
  for (std::size_t i = 0; i < input.size(); ++i) {
    REQUIRE(static_cast<std::int8_t>(r.payload[i]) == expected[i]);
  }
  REQUIRE(r.scales == Floats{1.0F});
}

TEST_CASE("no scale format makes -128 of an abs-max, whichever way the scale was rounded") {
  for (ScaleFormat scale : {ScaleFormat::fp32, ScaleFormat::bf16}) {
    for (int i = 0; i < 5000; ++i) {
      const float absmax = 1.0F + static_cast<float>(i) * 0.0007F;
      const Result r = run<BlockCodec>(format_of(ElementFormat::int8, scale), {-absmax, absmax});
      const int low = static_cast<std::int8_t>(r.payload[0]);
      const int high = static_cast<std::int8_t>(r.payload[1]);
      if (low != -high || high > 127 || high < 126) FAIL("abs-max " << absmax);
    }
  }
  SUCCEED();
}

TEST_CASE("int8 without scales: the nearest integer, saturating, and NaN is 0 but counted") {
  const Floats input{0.5F, 1.5F, -2.5F, 126.5F, 127.4F, -300.0F, kInf, -kInf, kNan, 0.3F, 0.0F};
  const Floats expected{0, 2, -2, 126, 127, -127, 127, -127, 0, 0, 0};
  const BlockFormat format{.element = ElementFormat::int8};
  REQUIRE(run<BlockCodec>(format, input).values == expected);
  REQUIRE(run<ReferenceCodec>(format, input).values == expected);
  REQUIRE(BlockCodec(format).count(input, 0, {}) ==
          QuantizeCounts{.elements = 11, .clipped = 1, .flushed = 2, .non_finite = 3});
}

TEST_CASE("a scale that was handed in too small clamps to +-127") {
  const BlockCodec codec(format_of(ElementFormat::int8));
  const Floats scales{0.5F};
  Bytes payload(3);
  codec.quantize(Floats{1000.0F, -1000.0F, -63.9F}, 0, scales, payload);
  REQUIRE(static_cast<std::int8_t>(payload[0]) == 127);
  REQUIRE(static_cast<std::int8_t>(payload[1]) == -127);
  REQUIRE(static_cast<std::int8_t>(payload[2]) == -127);
}

TEST_CASE("FP8 scales map the abs-max to the largest finite code") {
  const Result e4m3 = run<BlockCodec>(format_of(ElementFormat::fp8_e4m3), {-7.0F, 3.5F});
  REQUIRE(e4m3.scales == Floats{7.0F / 448.0F});
  REQUIRE(e4m3.values == Floats{-7.0F, 3.5F});
  REQUIRE(e4m3.payload[0] == std::byte{0xfe});
  const Result e5m2 = run<BlockCodec>(format_of(ElementFormat::fp8_e5m2), {-7.0F, 3.5F});
  REQUIRE(e5m2.values == Floats{-7.0F, 3.5F});
  REQUIRE(e5m2.payload[0] == std::byte{0xfb});
}

TEST_CASE("a zero group has scale 0 and decodes to 0") {
  for (const BlockFormat& format : scaled_formats()) {
    const Result r = run<BlockCodec>(format, Floats(2048, -0.0F));
    const float expected = format.scale == ScaleFormat::e8m0 ? 0x1p-127F : 0.0F;
    for (float scale : r.scales) REQUIRE(scale == expected);
    for (float value : r.values) REQUIRE(value == 0.0F);
  }
}

TEST_CASE("a NaN or an Inf makes its whole group NaN, and no other group") {
  for (const BlockFormat& format : scaled_formats()) {
    for (float poison : {kNan, -kNan, kInf, -kInf}) {
      for (std::size_t place : {std::size_t{0}, std::size_t{5}, std::size_t{2047}}) {
        Floats input(2048, 1.0F);
        input[place] = poison;
        const Result r = run<BlockCodec>(format, input);
        const auto group = [&](std::size_t e) {
          return format.layout == ScaleLayout::strided ? e % 1024 : e / format.block;
        };
        for (std::size_t e = 0; e < input.size(); ++e) {
          if (std::isnan(r.values[e]) != (group(e) == group(place))) {
            FAIL(describe(format) << " element " << e << " poison " << poison << " at " << place);
          }
        }
      }
    }
  }
  SUCCEED();
}

TEST_CASE("int8 error is at most half a scale, from the smallest abs-max to the largest") {
  for (ScaleFormat scale : {ScaleFormat::fp32, ScaleFormat::bf16}) {
    for (float absmax : {kTiny, 50 * kTiny, 0x1p-130F, 0x1p-127F, 0x1p-126F, 127 * 0x1p-126F,
                         1e-30F, 1.0F, 3e38F, 0x1.FEp127F, 0x1.FF8p127F, kMax}) {
      Floats input;
      for (int i = -64; i <= 64; ++i) input.push_back(absmax * (static_cast<float>(i) / 64.0F));
      const Result r = run<BlockCodec>(format_of(ElementFormat::int8, scale, 256), input);
      const double step = r.scales[0];
      REQUIRE(std::isfinite(step));
      REQUIRE(step >= 0x1p-126);
      for (std::size_t i = 0; i < input.size(); ++i) {
        CAPTURE(absmax, input[i], r.values[i]);
        REQUIRE(std::isfinite(r.values[i]));
        REQUIRE(std::abs(static_cast<double>(r.values[i]) - input[i]) <= 0.50001 * step);
      }
    }
  }
}

TEST_CASE("FP8 with scales keeps its relative precision, and stays finite at the largest abs-max") {
  const auto check = [](ElementFormat element, ScaleFormat scale, double unit) {
    for (float absmax : {1e-30F, 1.0F, 3e38F, kMax}) {
      Floats input;
      for (int i = 16; i <= 64; ++i) input.push_back(absmax * (static_cast<float>(i) / 64.0F));
      const Result r = run<BlockCodec>(format_of(element, scale, 256), input);
      for (std::size_t i = 0; i < input.size(); ++i) {
        REQUIRE(std::isfinite(r.values[i]));
        REQUIRE(std::abs(r.values[i] / static_cast<double>(input[i]) - 1) <= unit * 1.07);
      }
    }
  };
  for (ScaleFormat scale : {ScaleFormat::fp32, ScaleFormat::bf16}) {
    check(ElementFormat::fp8_e4m3, scale, 0x1p-4);
    check(ElementFormat::fp8_e5m2, scale, 0x1p-3);
  }
}

TEST_CASE("E8M0 scales: the rule of the MX specification") {
  const auto scale_of = [](ElementFormat element, float absmax) {
    return run<BlockCodec>(format_of(element, ScaleFormat::e8m0), {absmax, 0.0F}).scales[0];
  };
  REQUIRE(scale_of(ElementFormat::fp8_e4m3, 448.0F) == 1.0F);
  REQUIRE(scale_of(ElementFormat::fp8_e4m3, 256.0F) == 1.0F);
  REQUIRE(scale_of(ElementFormat::fp8_e4m3, 255.9F) == 0.5F);
  REQUIRE(scale_of(ElementFormat::fp8_e5m2, 32768.0F) == 1.0F);
  REQUIRE(scale_of(ElementFormat::fp6_e2m3, 7.99F) == 1.0F);
  REQUIRE(scale_of(ElementFormat::fp6_e3m2, 16.0F) == 1.0F);
  REQUIRE(scale_of(ElementFormat::fp4_e2m1, 4.0F) == 1.0F);
  REQUIRE(scale_of(ElementFormat::mxint8, 1.0F) == 1.0F);
  REQUIRE(scale_of(ElementFormat::mxint8, kMax) == 0x1p127F);
  REQUIRE(scale_of(ElementFormat::fp8_e5m2, kTiny) == 0x1p-127F);
  REQUIRE(std::isnan(scale_of(ElementFormat::mxint8, kInf)));
  // Between the largest element and twice the power of two: clips, and is counted.
  const Result r = run<BlockCodec>(format_of(ElementFormat::fp4_e2m1, ScaleFormat::e8m0), {7.9F});
  REQUIRE(r.values == Floats{6.0F});
  REQUIRE(BlockCodec(format_of(ElementFormat::fp4_e2m1, ScaleFormat::e8m0))
              .count(Floats{7.9F, 6.9F}, 0, r.scales)
              .clipped == 1);
}

TEST_CASE("E4M3 scales: rounded, from the smallest to the largest") {
  const auto scale_of = [](float absmax) {
    return run<BlockCodec>(format_of(ElementFormat::fp4_e2m1, ScaleFormat::e4m3), {absmax})
        .scales[0];
  };
  REQUIRE(scale_of(6.0F) == 1.0F);
  REQUIRE(scale_of(6.0F * 17) == 16.0F);  // half way between 16 and 18
  REQUIRE(scale_of(1e9F) == 448.0F);
  REQUIRE(scale_of(1e-9F) == 0x1p-9F);
  REQUIRE(std::isnan(scale_of(kNan)));
}

TEST_CASE("integers of fewer bits by hand, and how they are packed") {
  const Result r = run<BlockCodec>(format_of(ElementFormat::int4),
                                   {7.0F, -7.0F, 0.5F, 1.5F, -2.5F, -3.5F, 6.6F});
  REQUIRE(r.payload == Bytes{std::byte{0x97}, std::byte{0x20}, std::byte{0xce}, std::byte{0x07}});
  const Result mx = run<BlockCodec>(format_of(ElementFormat::mxint8, ScaleFormat::e8m0),
                                    {1.99F, -1.0F, 0.5F / 64, 1.5F / 64});
  REQUIRE(mx.payload == Bytes{std::byte{127}, std::byte{0xc0}, std::byte{0}, std::byte{2}});
  const Result six = run<BlockCodec>(format_of(ElementFormat::fp6_e2m3), {7.5F, 0.125F, -7.5F, 1});
  REQUIRE(six.payload == Bytes{std::byte{0x5f}, std::byte{0xf0}, std::byte{0x23}});
}

namespace {

constexpr auto kStochastic = {ElementFormat::int8, ElementFormat::fp8_e4m3,
                              ElementFormat::fp8_e5m2};

BlockFormat stochastic(ElementFormat element) {
  BlockFormat format = format_of(element, ScaleFormat::fp32, 100);
  format.rounding = Rounding::stochastic;
  return format;
}

Floats rounded(const BlockFormat& format, const Floats& input, const Floats& scales,
               const RoundingKey& key) {
  const BlockCodec codec(format);
  Bytes payload(payload_bytes(format, input.size()));
  Floats values(input.size());
  codec.quantize(input, 0, scales, payload, key);
  codec.dequantize(payload, 0, scales, values);
  return values;
}

}  // namespace

TEST_CASE("stochastic rounding agrees with the reference, in pieces, on every target") {
  std::mt19937 random(41);
  for (ElementFormat element : kStochastic) {
    for (bool scaled : {true, false}) {
      BlockFormat format = stochastic(element);
      format.scaled = scaled;
      for (Kind kind : kKinds) {
        const Floats input = draw_many(kind, 3000, random);
        const Floats scales = run<ReferenceCodec>(format, input).scales;
        const RoundingKey key{99, 3, 5, 12345};
        Bytes expected(3000);
        ReferenceCodec(format).quantize(input, 0, scales, expected, key);
        on_every_target([&] {
          Bytes payload(3000);
          for (std::size_t at = 0; at < 3000;) {
            const std::size_t n = std::min<std::size_t>(3000 - at, 1 + random() % 900);
            RoundingKey here = key;
            here.first_element += at;
            BlockCodec(format).quantize(std::span(input).subspan(at, n), at, scales,
                                        std::span(payload).subspan(at, n), here);
            at += n;
          }
          INFO(describe(format) << " " << static_cast<int>(kind));
          REQUIRE(payload == expected);
        });
      }
    }
  }
}

TEST_CASE(
    "stochastic rounding has the right mean, an error below a step, and keeps what is exact") {
  constexpr std::size_t kMany = 100000;
  const Floats scales(kMany / 100, 1.0F);
  for (ElementFormat element : kStochastic) {
    for (float value : {0.3F, -0.3F, 5.37F, -100.7F, 0.0061F, -17.9F}) {
      const Floats values =
          rounded(stochastic(element), Floats(kMany, value), scales, {7, 1, 2, 0});
      double sum = 0;
      double low = values[0];
      double high = values[0];
      for (double x : values) {
        sum += x;
        low = std::min(low, x);
        high = std::max(high, x);
      }
      CAPTURE(value, low, high);
      REQUIRE(low <= value);
      REQUIRE(high >= value);
      REQUIRE(low < high);
      const double step = high - low;
      REQUIRE(step <= std::max(1.0, std::abs(value) * 0.25));
      const double deviation = std::sqrt((value - low) * (high - value) / kMany);
      REQUIRE(std::abs(sum / kMany - value) < 4.5 * deviation);
    }
    for (float value : {0.0F, 1.0F, -2.0F, 112.0F, -96.0F})
      REQUIRE(rounded(stochastic(element), Floats(kMany, value), scales, {}) ==
              Floats(kMany, value));
  }
}

TEST_CASE("stochastic rounding: seed, rank, hop and element each make a difference") {
  const Floats input(1000, 0.5F);
  const Floats scales(10, 1.0F);
  const BlockFormat format = stochastic(ElementFormat::int8);
  const RoundingKey key{1, 2, 3, 4};
  const Floats values = rounded(format, input, scales, key);
  REQUIRE(rounded(format, input, scales, key) == values);
  for (const RoundingKey& other : {RoundingKey{2, 2, 3, 4}, RoundingKey{1, 3, 3, 4},
                                   RoundingKey{1, 2, 4, 4}, RoundingKey{1, 2, 3, 5}})
    REQUIRE(rounded(format, input, scales, other) != values);
}

TEST_CASE("stochastic rounding counts what it did, and asks for a key and a format that has it") {
  const Floats input(1000, 0.25F);
  const Floats scales(10, 1.0F);
  const BlockCodec codec(stochastic(ElementFormat::int8));
  const Floats values = rounded(codec.format(), input, scales, {});
  const auto zeros = static_cast<std::uint64_t>(std::count(values.begin(), values.end(), 0.0F));
  REQUIRE(codec.count(input, 0, scales, RoundingKey{}).flushed == zeros);
  Bytes payload(1000);
  REQUIRE_THROWS_WITH(codec.quantize(input, 0, scales, payload),
                      ContainsSubstring("without a key"));
  REQUIRE_THROWS_WITH(codec.count(input, 0, scales), ContainsSubstring("without a key"));
  REQUIRE_THROWS_WITH(BlockCodec(stochastic(ElementFormat::int4)),
                      ContainsSubstring("int4 with stochastic"));
}

TEST_CASE("fp32 is exact, NaN payloads included") {
  const Floats input{1.0F, -0.0F, kInf, kTiny, std::bit_cast<float>(0x7fc12345U)};
  const Result r = run<BlockCodec>({.element = ElementFormat::fp32}, input);
  REQUIRE(std::memcmp(r.values.data(), input.data(), input.size() * sizeof(float)) == 0);
}

TEST_CASE("counts of what quantization does") {
  const BlockCodec codec(format_of(ElementFormat::int8));
  const Floats input{100.0F, -63.8F, 63.7F, 0.2F, -0.2F, 0.0F, kNan};
  const QuantizeCounts counts = codec.count(input, 0, Floats{0.5F});
  REQUIRE(counts == QuantizeCounts{.elements = 7, .clipped = 2, .flushed = 3, .non_finite = 0});
}

TEST_CASE("counts: abs-max scales clip nothing, poison all, and flush what is small") {
  for (const BlockFormat& format :
       {format_of(ElementFormat::int8), format_of(ElementFormat::int8, ScaleFormat::bf16)}) {
    const BlockCodec codec(format);
    Floats input(32, 0.001F);
    input[3] = -0.9999F;
    REQUIRE(codec.count(input, 0, run<BlockCodec>(format, input).scales) ==
            QuantizeCounts{.elements = 32, .clipped = 0, .flushed = 31, .non_finite = 0});
    input[4] = kInf;
    REQUIRE(codec.count(input, 0, run<BlockCodec>(format, input).scales) ==
            QuantizeCounts{.elements = 32, .clipped = 0, .flushed = 0, .non_finite = 32});
  }
}

TEST_CASE("counts of casts start where the range, not the rounding, changes a value") {
  const auto clipped = [](ElementFormat element, float value) {
    return BlockCodec({.element = element}).count(Floats{value}, 0, {}).clipped == 1;
  };
  REQUIRE_FALSE(clipped(ElementFormat::fp8_e4m3, 464.0F));
  REQUIRE(clipped(ElementFormat::fp8_e4m3, std::nextafter(464.0F, kInf)));
  REQUIRE_FALSE(clipped(ElementFormat::fp8_e5m2, std::nextafter(61440.0F, 0.0F)));
  REQUIRE(clipped(ElementFormat::fp8_e5m2, -61440.0F));
  REQUIRE_FALSE(clipped(ElementFormat::fp8_e5m2, kInf));
  REQUIRE(clipped(ElementFormat::bf16, kMax));
  REQUIRE_FALSE(clipped(ElementFormat::bf16, 0x1.FEp127F));
  REQUIRE_FALSE(clipped(ElementFormat::fp32, kMax));
  REQUIRE(BlockCodec({.element = ElementFormat::bf16}).count(Floats{kTiny, kMax}, 0, {}) ==
          QuantizeCounts{.elements = 2, .clipped = 1, .flushed = 1, .non_finite = 1});
}

TEST_CASE("counts of pieces add up") {
  std::mt19937 random(20);
  for (const BlockFormat& format : all_formats()) {
    const BlockCodec codec(format);
    const Floats input = draw_many(Kind::any_bits, 3000, random);
    const Result r = run<BlockCodec>(format, input);
    QuantizeCounts sum = codec.count(std::span(input).first(1500), 0, r.scales);
    sum += codec.count(std::span(input).subspan(1500), 1500, r.scales);
    REQUIRE(sum == codec.count(input, 0, r.scales));
    REQUIRE(sum.elements == 3000);
  }
}

TEST_CASE("formats without a meaning are refused") {
  REQUIRE_THROWS_WITH(BlockCodec(format_of(ElementFormat::int8, ScaleFormat::fp32, 0)),
                      ContainsSubstring("block is 0"));
  REQUIRE_THROWS_WITH(BlockCodec({.element = ElementFormat::int4}),
                      ContainsSubstring("int4 without scales"));
  REQUIRE_THROWS_WITH(BlockCodec({.element = ElementFormat::mxint8}),
                      ContainsSubstring("mxint8 without scales"));
  REQUIRE_THROWS_WITH(BlockCodec({.element = ElementFormat::fp16, .scaled = true}),
                      ContainsSubstring("fp16 with scales"));
  REQUIRE_THROWS_WITH(BlockCodec({.element = ElementFormat::bf16, .scaled = true}),
                      ContainsSubstring("bf16 with scales"));
  REQUIRE_THROWS_WITH(BlockCodec({.element = ElementFormat::fp32, .scaled = true}),
                      ContainsSubstring("fp32 with scales"));
}

TEST_CASE("spans that do not fit each other are refused") {
  const BlockCodec codec(format_of(ElementFormat::int8));  // blocks of 32
  const Floats values(64);
  Floats out(64);
  Floats scales(2);
  Bytes payload(64);
  Bytes wire(8);
  const std::span<float> one_scale = std::span(scales).first(1);
  const std::span<std::byte> short_payload = std::span(payload).first(63);
  REQUIRE_THROWS_AS(codec.find_absmax(values, 0, one_scale), std::invalid_argument);
  REQUIRE_THROWS_AS(codec.find_absmax(values, 1, scales), std::invalid_argument);
  REQUIRE_THROWS_AS(codec.encode_scales(scales, std::span(wire).first(7)), std::invalid_argument);
  REQUIRE_THROWS_AS(codec.decode_scales(wire, one_scale), std::invalid_argument);
  REQUIRE_THROWS_AS(codec.quantize(values, 0, one_scale, payload), std::invalid_argument);
  REQUIRE_THROWS_AS(codec.quantize(values, 0, scales, short_payload), std::invalid_argument);
  REQUIRE_THROWS_AS(codec.dequantize(short_payload, 0, scales, out), std::invalid_argument);
  REQUIRE_THROWS_AS(codec.dequantize(payload, 0, one_scale, out), std::invalid_argument);
  REQUIRE_THROWS_AS(codec.dequantize_add(payload, 0, scales, Floats(63), out),
                    std::invalid_argument);
  REQUIRE_THROWS_AS(codec.count(values, 0, one_scale), std::invalid_argument);
}

TEST_CASE("scales that no minishard of the layout could have are refused") {
  const Floats values(64);
  Floats scales(1025);
  const BlockCodec strided({ElementFormat::int8, true, ScaleFormat::fp32, ScaleLayout::strided, 0});
  REQUIRE_THROWS_AS(strided.find_absmax(values, 0, scales), std::invalid_argument);
  REQUIRE_THROWS_AS(strided.find_absmax(values, 0, std::span(scales).first(63)),
                    std::invalid_argument);
  REQUIRE_THROWS_AS(strided.find_absmax(values, 1000, std::span(scales).first(1023)),
                    std::invalid_argument);
  REQUIRE_NOTHROW(strided.find_absmax(values, 900, std::span(scales).first(1000)));
  const BlockCodec plain({.element = ElementFormat::bf16});
  REQUIRE_THROWS_AS(plain.find_absmax(values, 0, std::span(scales).first(1)),
                    std::invalid_argument);
}
