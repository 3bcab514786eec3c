// Tests of BlockCodec::count() and quantize_and_count().
#include "tests/models/numerics/codec/codecs.hpp"

namespace equarx::block_codec_counts_test {

using namespace equarx::numerics;

namespace {

/// All formats whose values are not codes, in several numbers of columns and both roundings.
std::vector<BlockFormat> counted_formats() {
  std::vector<BlockFormat> formats = all_formats();
  for (const NamedFormat& named : named_formats())
    if (!has_shared_scale(named.format)) formats.push_back(named.format);
  for (const ElementFormat element : kScaledElements) {
    formats.push_back({.element = element, .scaled = true, .columns = 192});
    formats.push_back(format_of(element, ScaleFormat::fp32, 64));
    formats.push_back(format_of(element, ScaleFormat::bf16, 200));
  }
  for (const ElementFormat element : {ElementFormat::int8, ElementFormat::fp8_e4m3})
    for (const std::size_t block : {0, 128}) {
      formats.push_back(format_of(element, ScaleFormat::fp32, block));
      if (block == 0) formats.back().layout = ScaleLayout::strided;
      formats.back().rounding = Rounding::stochastic;
    }
  return formats;
}

/// Offset and length of a piece of a minishard.
struct Part {
  std::size_t first;
  std::size_t count;
};

/// Scales of values by their amax times a factor, and by another amax for some groups.
Floats drawn_scales(const BlockCodec& codec, const Floats& values, const Part& part,
                    std::mt19937& random) {
  constexpr float kFactors[] = {1.0F, 1.0F, 0.9F, 0.3F, 1e-30F, 1e30F};
  constexpr float kOthers[] = {0.0F, kTiny, 1e-38F, 1.0F, kMax, kInf, kNan};
  Floats amax(scale_count(codec.format(), part.first + part.count));
  codec.find_amax(values, part.first, amax);
  const float factor = kFactors[random() % std::size(kFactors)];
  for (float& most : amax)
    most = random() % 16 == 0 ? kOthers[random() % std::size(kOthers)] : most * factor;
  Bytes wire(scales_bytes(codec.format(), amax.size()));
  Floats scales(amax.size());
  codec.encode_scales(amax, wire);
  codec.decode_scales(wire, scales);
  return scales;
}

void check_counted(const BlockCodec& codec, const Floats& values, const Part& part,
                   const Floats& scales) {
  const RoundingKey key{7, 3, 5, 1000 + part.first};
  Bytes expected(held_bytes(codec.format(), values.size()), std::byte{0x55});
  Bytes payload(expected.size(), std::byte{0xaa});
  codec.quantize(values, part.first, scales, expected, key);
  const QuantizeCounts counts = codec.count(values, part.first, scales, key);
  REQUIRE(codec.quantize_and_count(values, part.first, scales, payload, key) == counts);
  REQUIRE(payload == expected);
}

}  // namespace

TEST_CASE("quantize_and_count() gives the bits of quantize() and the numbers of count()") {
  std::mt19937 random(39);
  for (const BlockFormat& format : counted_formats()) {
    const BlockCodec codec(format);
    for (const Part& part : {Part{0, 0}, Part{3, 1}, Part{1000, 77}, Part{0, 4096}, Part{64, 5157},
                             Part{1029, 4200}}) {
      Floats values(part.count);
      for (const Kind kind : kKinds) {
        for (float& value : values) value = draw(kind, random);
        const Floats scales = drawn_scales(codec, values, part, random);
        INFO(describe(format) << " kind " << static_cast<int>(kind) << " from " << part.first
                              << ", " << part.count);
        on_every_target([&] { check_counted(codec, values, part, scales); });
      }
      for (float& value : values) value = draw(std::data(kKinds)[random() % kKinds.size()], random);
      const Floats scales = drawn_scales(codec, values, part, random);
      INFO(describe(format) << " mixed, from " << part.first << ", " << part.count);
      on_every_target([&] { check_counted(codec, values, part, scales); });
    }
  }
}

TEST_CASE("quantize_and_count() counts sums of codes that wrap, under a shared scale") {
  const Floats codes{1.0F, -2.0F, 0.0F, 64.0F, 128.0F, -128.0F, -256.0F, 4.0F};
  for (const NamedFormat& named : named_formats())
    if (has_shared_scale(named.format)) {
      INFO(named.name);
      check_counted(BlockCodec(named.format), codes, {0, codes.size()}, {});
    }
}

TEST_CASE("quantize_and_count() flushes ties at half a step, and nothing above") {
  for (const ElementFormat element : kScaledElements) {
    const BlockCodec codec({.element = element, .scaled = true});
    const Floats ones(kRegisterElements, 1.0F);
    Floats steps(8);
    Bytes codes(payload_bytes(codec.format(), steps.size()));
    codes[0] = std::byte{1};
    codec.dequantize(codes, 0, ones, steps);
    const float half = steps[0] / 2.0F;
    Floats values(4 * kRegisterElements);
    for (std::size_t i = 0; i < values.size(); i += 4) {
      values[i] = half;
      values[i + 1] = std::nextafter(half, 1.0F);
      values[i + 2] = -half;
      values[i + 3] = std::nextafter(-half, -1.0F);
    }
    INFO(name(element));
    on_every_target([&] {
      Bytes payload(payload_bytes(codec.format(), values.size()));
      REQUIRE(codec.quantize_and_count(values, 0, ones, payload) ==
              QuantizeCounts{.elements = values.size(), .flushed = values.size() / 2});
    });
  }
}

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

TEST_CASE("counts: NaN under a finite scale is flushed, in whole vectors as in single elements") {
  for (const ElementFormat element : kScaledElements) {
    const BlockCodec codec({.element = element, .scaled = true});
    const Floats input(4 * kRegisterElements, kNan);
    const Floats ones(kRegisterElements, 1.0F);
    INFO(name(element));
    on_every_target([&] {
      REQUIRE(codec.count(input, 0, ones) ==
              QuantizeCounts{.elements = input.size(), .flushed = input.size()});
    });
  }
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
