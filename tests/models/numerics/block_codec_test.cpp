#include "models/numerics/block_codec.hpp"

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "models/numerics/reference_codec.hpp"
#include "tests/catch.hpp"

using namespace equarx::numerics;

namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kMax = std::numeric_limits<float>::max();
constexpr float kTiny = std::numeric_limits<float>::denorm_min();

using Floats = std::vector<float>;
using Bytes = std::vector<std::byte>;

std::vector<BlockFormat> scaled_formats() {
  std::vector<BlockFormat> formats;
  for (auto element : {ElementFormat::int8, ElementFormat::fp8_e4m3, ElementFormat::fp8_e5m2}) {
    for (auto scale : {ScaleFormat::fp32, ScaleFormat::bf16}) {
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
  for (auto element : {ElementFormat::fp32, ElementFormat::bf16, ElementFormat::int8,
                       ElementFormat::fp8_e4m3, ElementFormat::fp8_e5m2}) {
    formats.push_back({.element = element});
  }
  return formats;
}

std::string describe(const BlockFormat& format) {
  return std::string(name(format.element)) + (format.scaled ? " scaled " : " plain ") +
         std::string(name(format.scale)) + " " + std::string(name(format.layout)) + " " +
         std::to_string(format.block);
}

// What a codec makes of a minishard that it sees in pieces that end at `cuts`.
struct Result {
  Floats absmax, scales, values, sums;
  Bytes wire_scales, payload;
};

template <class Codec>
Result run(const BlockFormat& format, const Floats& input, const std::vector<std::size_t>& cuts) {
  const Codec codec(format);
  const std::size_t count = input.size();
  const std::size_t width = element_bits(format.element) / 8;
  Result r;
  r.absmax.assign(scale_count(format, count), 0.0F);
  r.scales.resize(r.absmax.size());
  r.wire_scales.resize(r.absmax.size() * scale_bytes(format.scale));
  r.payload.resize(payload_bytes(format, count));
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
    const auto payload = std::span(r.payload).subspan(at * width, n * width);
    codec.quantize(in.subspan(at, n), at, r.scales, payload);
    codec.dequantize(payload, at, r.scales, std::span(r.values).subspan(at, n));
    codec.dequantize_add(payload, at, r.scales, in.subspan(at, n),
                         std::span(r.sums).subspan(at, n));
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

void require_same(const Result& fast, const Result& slow) {
  REQUIRE(same(fast.absmax, slow.absmax));
  REQUIRE(fast.wire_scales == slow.wire_scales);
  REQUIRE(same(fast.scales, slow.scales));
  REQUIRE(fast.payload == slow.payload);
  REQUIRE(same(fast.values, slow.values));
  REQUIRE(same(fast.sums, slow.sums));
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
        require_same(run<BlockCodec>(format, input), run<ReferenceCodec>(format, input));
      }
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
        require_same(run<BlockCodec>(format, input, cuts), whole);
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
    for (float scale : r.scales) REQUIRE(scale == 0.0F);
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
