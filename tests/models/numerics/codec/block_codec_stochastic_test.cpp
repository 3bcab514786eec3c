// Tests of stochastic rounding in BlockCodec.
#include "tests/models/numerics/codec/codecs.hpp"

namespace equarx::block_codec_stochastic_test {

using namespace equarx::numerics;

namespace {

constexpr auto kStochastic = {ElementFormat::int8, ElementFormat::fp8_e4m3, ElementFormat::fp8_e5m2,
                              ElementFormat::fp8_e4m3fnuz, ElementFormat::fp8_e5m2fnuz};

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

TEST_CASE("stochastic rounding matches the reference, in pieces, on every target") {
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

TEST_CASE("random words depend neither on the start of a vector of counters nor on carries") {
  constexpr std::uint64_t kCarry =
      4 * (std::uint64_t{1} << 32);  // the lower word of the counter overflows
  std::mt19937 random(43);
  const Floats input = draw_many(Kind::normal, 400, random);
  for (ElementFormat element : kStochastic) {
    const BlockFormat format = stochastic(element);
    const Floats scales = run<ReferenceCodec>(format, input).scales;
    for (std::uint64_t first = kCarry - 210; first < kCarry - 190; ++first) {
      const RoundingKey key{0xfedcba9876543210, 0xffffffff, 0xfffffffe, first};
      Bytes expected(input.size());
      ReferenceCodec(format).quantize(input, 0, scales, expected, key);
      on_every_target([&] {
        Bytes payload(input.size());
        BlockCodec(format).quantize(input, 0, scales, payload, key);
        if (payload != expected) FAIL(describe(format) << " from " << first);
      });
    }
  }
  SUCCEED();
}

TEST_CASE("stochastic rounding is unbiased, errs by less than a step and keeps exact values") {
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

TEST_CASE("stochastic rounding depends on seed, rank, hop and element") {
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

TEST_CASE("stochastic rounding is counted, and requires a key and a supported format") {
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
  REQUIRE_THROWS_WITH(BlockCodec(stochastic(ElementFormat::int6)),
                      ContainsSubstring("int6 with stochastic"));
}

}  // namespace equarx::block_codec_stochastic_test
