// Tests of BlockCodec::count().
#include "tests/models/numerics/codec/codecs.hpp"

namespace equarx::block_codec_counts_test {

using namespace equarx::numerics;

TEST_CASE("counts match element-wise counts") {
  std::mt19937 random(37);
  for (const BlockFormat& format : all_formats()) {
    const BlockCodec codec(format);
    for (Kind kind : {Kind::normal, Kind::any_bits, Kind::any_finite, Kind::sparse}) {
      const Floats input = draw_many(kind, 2100, random);
      Floats scales = run<ReferenceCodec>(format, input).scales;
      for (float& scale : scales) scale *= 0.9F;  // makes some elements clip
      QuantizeCounts expected;
      for (std::size_t e = 0; e < input.size(); ++e)
        expected += codec.count(std::span(input).subspan(e, 1), e, scales);
      INFO(describe(format) << " " << static_cast<int>(kind));
      on_every_target([&] { REQUIRE(codec.count(input, 0, scales) == expected); });
    }
  }
}

TEST_CASE("counts of integers in whole registers match element-wise counts") {
  std::mt19937 random(38);
  for (const ElementFormat element :
       {ElementFormat::int8, ElementFormat::int6, ElementFormat::int4, ElementFormat::mxint8})
    for (const Kind kind : kKinds)
      for (const float factor : {1.0F, 0.9F, 1e-30F}) {
        const BlockFormat format{.element = element, .scaled = true};
        const BlockCodec codec(format);
        const Floats input = draw_many(kind, 5 * kRegisterElements + 37, random);
        Floats scales = run<ReferenceCodec>(format, input).scales;
        for (float& scale : scales) scale *= factor;
        const auto part = std::span(input).subspan(5);
        QuantizeCounts expected;
        for (std::size_t e = 0; e < part.size(); ++e)
          expected += codec.count(part.subspan(e, 1), e + 5, scales);
        INFO(describe(format) << " " << static_cast<int>(kind) << " " << factor);
        on_every_target([&] { REQUIRE(codec.count(part, 5, scales) == expected); });
      }
}

TEST_CASE("counts of clipped, flushed and non-finite elements by hand") {
  const BlockCodec codec(format_of(ElementFormat::int8));
  const Floats input{100.0F, -63.8F, 63.7F, 0.2F, -0.2F, 0.0F, kNan};
  const QuantizeCounts counts = codec.count(input, 0, Floats{0.5F});
  REQUIRE(counts == QuantizeCounts{.elements = 7, .clipped = 2, .flushed = 3, .non_finite = 0});
}

TEST_CASE("counts: amax scales never clip, propagate NaN to the group and flush small values") {
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

TEST_CASE("counts: casts clip where the range, not the rounding, changes a value") {
  const auto clipped = [](ElementFormat element, float value) {
    return BlockCodec({.element = element}).count(Floats{value}, 0, {}).clipped == 1;
  };
  REQUIRE_FALSE(clipped(ElementFormat::fp8_e4m3, 464.0F));
  REQUIRE(clipped(ElementFormat::fp8_e4m3, std::nextafter(464.0F, kInf)));
  REQUIRE_FALSE(clipped(ElementFormat::fp8_e5m2, std::nextafter(61440.0F, 0.0F)));
  REQUIRE(clipped(ElementFormat::fp8_e5m2, -61440.0F));
  REQUIRE_FALSE(clipped(ElementFormat::fp8_e5m2, kInf));
  REQUIRE_FALSE(clipped(ElementFormat::fp8_e4m3fnuz, std::nextafter(248.0F, 0.0F)));
  REQUIRE(clipped(ElementFormat::fp8_e4m3fnuz, 248.0F));
  REQUIRE_FALSE(clipped(ElementFormat::fp8_e5m2fnuz, std::nextafter(61440.0F, 0.0F)));
  REQUIRE(clipped(ElementFormat::fp8_e5m2fnuz, -61440.0F));
  REQUIRE(clipped(ElementFormat::bf16, kMax));
  REQUIRE_FALSE(clipped(ElementFormat::bf16, 0x1.FEp127F));
  REQUIRE_FALSE(clipped(ElementFormat::fp32, kMax));
  REQUIRE(BlockCodec({.element = ElementFormat::bf16}).count(Floats{kTiny, kMax}, 0, {}) ==
          QuantizeCounts{.elements = 2, .clipped = 1, .flushed = 1, .non_finite = 1});
}

TEST_CASE("counts: pieces add up to the whole") {
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

}  // namespace equarx::block_codec_counts_test
