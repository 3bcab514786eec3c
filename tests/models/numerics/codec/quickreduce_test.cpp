#include "models/numerics/codec/quickreduce.hpp"

#include <cstring>
#include <random>

#include "models/numerics/elements/float16.hpp"
#include "tests/models/numerics/codec/codecs.hpp"
#include "tests/support/reference_quickreduce.hpp"

namespace equarx::numerics::quickreduce::quickreduce_test {
namespace {

using testing::quickreduce::coded;
using testing::quickreduce::Decoded;
using testing::quickreduce::Levels;

struct Codec {
  ElementFormat element;
  Levels levels;
};
constexpr Codec kCodecs[] = {{ElementFormat::int8, 128},
                             {ElementFormat::int6, 32},
                             {ElementFormat::int4, 8},
                             {ElementFormat::fp8_e4m3fnuz, 0}};

BlockFormat format_of(const Codec& codec) {
  BlockFormat format;
  format.element = codec.element;
  format.scaled = true;
  format.rule = ScaleRule::quickreduce;
  format.scale = ScaleFormat::fp16;
  format.layout = ScaleLayout::paired;
  format.block = kQuickReduceBlock;
  return format;
}

/// Results of encoding and decoding.
struct Coded {
  Floats scales;
  Floats values;
  Bytes payload;
};
Coded code(const Codec& codec, const Floats& values, std::size_t piece) {
  const BlockCodec block(format_of(codec));
  Floats extrema(scale_count(block.format(), values.size()));
  for (std::size_t first = 0; first < values.size(); first += piece)
    block.find_amax(std::span(values).subspan(first, std::min(piece, values.size() - first)), first,
                    extrema);
  Bytes bytes(scales_bytes(block.format(), extrema.size()));
  block.encode_scales(extrema, bytes);
  Coded result{Floats(extrema.size()), Floats(values.size()),
               Bytes(payload_bytes(block.format(), values.size()))};
  block.decode_scales(bytes, result.scales);
  block.quantize(values, 0, result.scales, result.payload);
  block.dequantize(result.payload, 0, result.scales, result.values);
  return result;
}

/// True if both are NaN, or equal with zeros of the same sign.
bool same(float got, double expected) {
  if (std::isnan(expected)) return std::isnan(got);
  return static_cast<double>(got) == expected && std::signbit(got) == std::signbit(expected);
}

void check_run(const Codec& codec, const Floats& values, std::size_t piece = 64) {
  const Coded got = code(codec, values, piece);
  for (std::size_t run = 0; run < values.size(); run += 64)
    for (std::size_t parity = 0; parity < 2; ++parity) {
      std::vector<double> group;
      const std::size_t end = std::min(values.size(), run + 64);
      for (std::size_t i = run + parity; i < end; i += 2) group.push_back(values[i]);
      if (group.empty()) continue;
      const Decoded expected = coded(codec.levels, group);
      CAPTURE(codec.levels, run, parity);
      REQUIRE(same(got.scales[run / 64 * 2 + parity], expected.scale));
      for (std::size_t i = 0; i < group.size(); ++i) {
        CAPTURE(i, group[i]);
        REQUIRE(same(got.values[run + parity + 2 * i], expected.values[i]));
      }
    }
}

Floats random_halves(std::mt19937& random, std::size_t count, float spread) {
  std::normal_distribution<float> normal;
  Floats values(count);
  for (float& value : values) value = float_from_fp16(fp16_from_float(spread * normal(random)));
  return values;
}

TEST_CASE("QuickReduce: random groups of all magnitudes match the oracle bit for bit") {
  std::mt19937 random(1);
  for (const Codec& codec : kCodecs)
    for (int exponent = -26; exponent <= 16; ++exponent)
      check_run(codec, random_halves(random, 64 * 8, std::ldexp(1.0F, exponent)));
}

TEST_CASE("QuickReduce: all FP16 values with extrema that make them codes, ties or out of range",
          "[long]") {
  for (const Codec& codec : kCodecs)
    for (const float extremum : {1.0F, -1.0F, 8.0F, -31.5F, 240.0F, 1000.0F, 0x1p-15F, 65504.0F}) {
      Floats values;
      for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
        if (values.size() % 64 < 2) values.push_back(extremum);
        values.push_back(float_from_fp16(static_cast<std::uint16_t>(bits)));
      }
      check_run(codec, values);
    }
}

TEST_CASE("QuickReduce: integer ties round to even, and the negative of equal extrema wins") {
  // An extremum of -8 gives a scale of 1, so codes equal the values; epsilon is negligible.
  Floats values(64, 0.0F);
  values[0] = -8.0F;
  values[1] = -8.0F;
  for (int i = 1; i < 16; ++i) values[2 * i] = static_cast<float>(i) - 8.0F + 0.5F;
  const Coded got = code(kCodecs[2], values, 64);
  CHECK(got.scales[0] == 1.0F);
  for (int i = 1; i < 15; ++i) {
    const double tie = static_cast<double>(i) - 8.0 + 0.5;
    CHECK(static_cast<double>(got.values[2 * i]) == std::nearbyint(tie));
  }
  CHECK(got.values[30] == 7.0F);  // 7.5 is clipped before rounding
  check_run(kCodecs[2], values);

  Floats both(64, 1.0F);
  both[10] = 4.0F;
  both[20] = -4.0F;
  const Coded equal = code(kCodecs[0], both, 64);
  CHECK(equal.scales[0] == 4.0F / 128.0F);  // the negative one gets code -128
  CHECK(equal.values[20] == -4.0F);
  CHECK(equal.values[10] == 4.0F * 127.0F / 128.0F);
}

TEST_CASE("QuickReduce: non-finite values and zeros behave as on the GPU") {
  for (const Codec& codec : kCodecs)
    for (const float special : {kInf, -kInf, kNan, 0.0F, -0.0F, 65504.0F, kTiny, 0x1p-24F}) {
      Floats values(64, 0.25F);
      values[3] = special;
      values[4] = special;
      check_run(codec, values);
      check_run(codec, Floats(64, special));
    }
  // Epsilon cancels the scale: 1 / 0.
  check_run(kCodecs[2], Floats(64, 8 * 0x1p-24F));
}

TEST_CASE("QuickReduce: pieces and short runs match the whole") {
  std::mt19937 random(2);
  for (const Codec& codec : kCodecs)
    for (const std::size_t elements : {1U, 2U, 3U, 63U, 64U, 65U, 130U, 1000U}) {
      const Floats values = random_halves(random, elements, 1.0F);
      check_run(codec, values, 12);
      const BlockCodec block(format_of(codec));
      const Coded whole = code(codec, values, elements);
      for (std::size_t first = 0; first < elements; first += 24) {
        const auto piece =
            std::span(values).subspan(first, std::min<std::size_t>(24, elements - first));
        Bytes payload(payload_bytes(block.format(), piece.size()));
        block.quantize(piece, first, whole.scales, payload);
        Floats decoded(piece.size());
        block.dequantize(payload, first, whole.scales, decoded);
        for (std::size_t i = 0; i < piece.size(); ++i)
          REQUIRE(same(decoded[i], whole.values[first + i]));
      }
    }
}

TEST_CASE("QuickReduce: sums are rounded to FP16 and saturate") {
  std::mt19937 random(3);
  for (const Codec& codec : kCodecs) {
    const Floats values = random_halves(random, 256, 100.0F);
    Floats local = random_halves(random, 256, 1.0F);
    local[7] = 65504.0F;
    const BlockCodec block(format_of(codec));
    const Coded coded = code(codec, values, 256);
    Floats sums(256);
    block.dequantize_add(coded.payload, 0, coded.scales, local, sums);
    for (std::size_t i = 0; i < sums.size(); ++i)
      REQUIRE(
          same(sums[i], testing::quickreduce::half(double{local[i]} + double{coded.values[i]})));
    Floats extrema(coded.scales.size());
    Floats again = local;
    block.dequantize_add_amax(coded.payload, 0, coded.scales, again, again, extrema);
    CHECK(again == sums);
    Floats expected(extrema.size());
    block.find_amax(sums, 0, expected);
    CHECK(extrema == expected);
  }
}

TEST_CASE("QuickReduce: sizes match the reference buffers") {
  // 32 values and a scale, as documented per mode; 2048 values per wavefront.
  const std::size_t bytes[] = {34, 26, 18, 34};
  for (std::size_t i = 0; i < std::size(kCodecs); ++i) {
    const BlockFormat format = format_of(kCodecs[i]);
    CHECK(payload_bytes(format, 64) + scales_bytes(format, scale_count(format, 64)) ==
          2 * bytes[i]);
    CHECK(payload_bytes(format, 2048) + scales_bytes(format, scale_count(format, 2048)) ==
          64 * bytes[i]);
  }
  CHECK(scale_count(format_of(kCodecs[0]), 65) == 3);
  CHECK(scale_count(format_of(kCodecs[0]), 66) == 4);
  CHECK(scale_count(format_of(kCodecs[0]), 1) == 1);
}

TEST_CASE("QuickReduce: clipped, flushed and non-finite values are counted") {
  Floats values(64, 0.0F);
  values[0] = -8.0F;
  values[1] = -8.0F;
  values[2] = 8.0F;   // clipped to 7
  values[4] = 7.4F;   // rounded
  values[6] = 0.25F;  // flushed
  values[3] = 0.5F;   // tie, flushed
  const BlockCodec block(format_of(kCodecs[2]));
  const Coded coded = code(kCodecs[2], values, 64);
  const QuantizeCounts counts = block.count(values, 0, coded.scales);
  CHECK(counts.elements == 64);
  CHECK(counts.clipped == 1);
  CHECK(counts.flushed == 2);
  CHECK(counts.non_finite == 0);
  values[2] = kInf;
  const Coded infinite = code(kCodecs[2], values, 64);
  CHECK(block.count(values, 0, infinite.scales).non_finite == 32);
}

TEST_CASE("QuickReduce: unsupported formats are refused") {
  BlockFormat format = format_of(kCodecs[0]);
  format.element = ElementFormat::fp8_e5m2;
  CHECK_THROWS_AS(BlockCodec(format), std::invalid_argument);
  format = format_of(kCodecs[0]);
  format.scale = ScaleFormat::fp32;
  CHECK_THROWS_AS(BlockCodec(format), std::invalid_argument);
  format = format_of(kCodecs[0]);
  format.block = 64;
  CHECK_THROWS_AS(BlockCodec(format), std::invalid_argument);
  format = format_of(kCodecs[0]);
  format.rounding = Rounding::stochastic;
  CHECK_THROWS_AS(BlockCodec(format), std::invalid_argument);
  BlockFormat other{.element = ElementFormat::int8, .scaled = true, .scale = ScaleFormat::fp16};
  CHECK_THROWS_AS(BlockCodec(other), std::invalid_argument);
  other = {.element = ElementFormat::int8, .scaled = true, .layout = ScaleLayout::paired};
  other.block = 32;
  CHECK_THROWS_AS(BlockCodec(other), std::invalid_argument);
}

}  // namespace
}  // namespace equarx::numerics::quickreduce::quickreduce_test
