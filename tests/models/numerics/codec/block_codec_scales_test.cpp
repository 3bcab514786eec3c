// Tests of the scales of BlockCodec.
#include "tests/models/numerics/codec/codecs.hpp"

namespace equarx::block_codec_scales_test {

using namespace equarx::numerics;

TEST_CASE("int8 error is at most half a scale for the smallest to the largest amax") {
  for (ScaleFormat scale : {ScaleFormat::fp32, ScaleFormat::bf16}) {
    for (float amax : {kTiny, 50 * kTiny, 0x1p-130F, 0x1p-127F, 0x1p-126F, 127 * 0x1p-126F, 1e-30F,
                       1.0F, 3e38F, 0x1.FEp127F, 0x1.FF8p127F, kMax}) {
      Floats input;
      for (int i = -64; i <= 64; ++i) input.push_back(amax * (static_cast<float>(i) / 64.0F));
      const Result r = run<BlockCodec>(format_of(ElementFormat::int8, scale, 256), input);
      const double step = r.scales[0];
      REQUIRE(std::isfinite(step));
      REQUIRE(step >= 0x1p-126);
      for (std::size_t i = 0; i < input.size(); ++i) {
        CAPTURE(amax, input[i], r.values[i]);
        REQUIRE(std::isfinite(r.values[i]));
        REQUIRE(std::abs(static_cast<double>(r.values[i]) - input[i]) <= 0.50001 * step);
      }
    }
  }
}

TEST_CASE("scaled FP8 keeps its relative precision and stays finite at the largest amax") {
  const auto check = [](ElementFormat element, ScaleFormat scale, double unit) {
    for (float amax : {1e-30F, 1.0F, 3e38F, kMax}) {
      Floats input;
      for (int i = 16; i <= 64; ++i) input.push_back(amax * (static_cast<float>(i) / 64.0F));
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
    check(ElementFormat::fp8_e4m3fnuz, scale, 0x1p-4);
    check(ElementFormat::fp8_e5m2fnuz, scale, 0x1p-3);
  }
}

TEST_CASE("E8M0 scales follow the MX specification") {
  const auto scale_of = [](ElementFormat element, float amax) {
    return run<BlockCodec>(format_of(element, ScaleFormat::e8m0), {amax, 0.0F}).scales[0];
  };
  REQUIRE(scale_of(ElementFormat::fp8_e4m3, 448.0F) == 1.0F);
  REQUIRE(scale_of(ElementFormat::fp8_e4m3, 256.0F) == 1.0F);
  REQUIRE(scale_of(ElementFormat::fp8_e4m3, 255.9F) == 0.5F);
  REQUIRE(scale_of(ElementFormat::fp8_e5m2, 32768.0F) == 1.0F);
  REQUIRE(scale_of(ElementFormat::fp8_e4m3fnuz, 128.0F) == 1.0F);
  REQUIRE(scale_of(ElementFormat::int6, 31.9F) == 1.0F);
  REQUIRE(scale_of(ElementFormat::fp6_e2m3, 7.99F) == 1.0F);
  REQUIRE(scale_of(ElementFormat::fp6_e3m2, 16.0F) == 1.0F);
  REQUIRE(scale_of(ElementFormat::fp4_e2m1, 4.0F) == 1.0F);
  REQUIRE(scale_of(ElementFormat::mxint8, 1.0F) == 1.0F);
  REQUIRE(scale_of(ElementFormat::mxint8, kMax) == 0x1p127F);
  REQUIRE(scale_of(ElementFormat::fp8_e5m2, kTiny) == 0x1p-127F);
  REQUIRE(std::isnan(scale_of(ElementFormat::mxint8, kInf)));
  // Between the largest element and twice the power of two: clips and is counted.
  const Result r = run<BlockCodec>(format_of(ElementFormat::fp4_e2m1, ScaleFormat::e8m0), {7.9F});
  REQUIRE(r.values == Floats{6.0F});
  REQUIRE(BlockCodec(format_of(ElementFormat::fp4_e2m1, ScaleFormat::e8m0))
              .count(Floats{7.9F, 6.9F}, 0, r.scales)
              .clipped == 1);
}

namespace {

BlockFormat e8m0(ElementFormat element, ScaleRounding rounding) {
  BlockFormat format = format_of(element, ScaleFormat::e8m0);
  format.scale_rounding = rounding;
  return format;
}

float e8m0_scale(ElementFormat element, ScaleRounding rounding, float amax) {
  return run<BlockCodec>(e8m0(element, rounding), {amax, 0.0F}).scales[0];
}

float next_above(float value) { return std::nextafter(value, kInf); }
float next_below(float value) { return std::nextafter(value, 0.0F); }

/// Largest value of an element.
float largest(ElementFormat element) {
  return run<BlockCodec>(e8m0(element, ScaleRounding::floor), {kMax}).values[0] /
         e8m0_scale(element, ScaleRounding::floor, kMax);
}

}  // namespace

TEST_CASE("E8M0 scales rounded up step up just above the largest element") {
  const auto up = [](ElementFormat element, float amax) {
    return e8m0_scale(element, ScaleRounding::up, amax);
  };
  REQUIRE(largest(ElementFormat::fp8_e4m3) == 448.0F);
  for (const ElementFormat element : kScaledElements) {
    const float most = largest(element);
    CAPTURE(name(element), most);
    for (const int exponent : {-126, -100, -1, 0, 5, 100}) {
      const float scale = std::ldexp(1.0F, exponent);
      CHECK(up(element, most * scale) == scale);
      CHECK(up(element, next_above(most * scale)) == 2.0F * scale);
      CHECK(up(element, next_below(most * scale)) == scale);
    }
    CHECK(up(element, most * 0x1p-127F) == 0x1p-127F);
    CHECK(up(element, next_above(most * 0x1p-127F)) == 0x1p-126F);
    CHECK(up(element, kTiny) == 0x1p-127F);
    CHECK(up(element, 0.0F) == 0x1p-127F);
    CHECK(std::isnan(up(element, kInf)));
    CHECK(std::isnan(up(element, kNan)));
  }
  CHECK(up(ElementFormat::fp4_e2m1, kMax) == 0x1p126F);
  CHECK(up(ElementFormat::fp8_e5m2, kMax) == 0x1p113F);
}

TEST_CASE("the largest E8M0 scale is 2^127, where codes saturate") {
  const Result r =
      run<BlockCodec>(e8m0(ElementFormat::mxint8, ScaleRounding::up), {kMax, -0x1p127F});
  CHECK(r.scales == Floats{0x1p127F});
  CHECK(r.values == Floats{0x1.FCp127F, -0x1p127F});
}

TEST_CASE("E8M0 scales rounded to even step up where amax rounds to a power of two") {
  struct Step {
    ElementFormat element;
    float amax;  ///< smallest with scale 2: half a step below the next power of two
  };
  for (const auto [element, amax] :
       {Step{ElementFormat::fp8_e4m3, 496.0F}, Step{ElementFormat::fp8_e4m3fnuz, 248.0F},
        Step{ElementFormat::fp8_e5m2, 61440.0F}, Step{ElementFormat::fp8_e5m2fnuz, 61440.0F},
        Step{ElementFormat::fp6_e2m3, 7.75F}, Step{ElementFormat::fp6_e3m2, 30.0F},
        Step{ElementFormat::fp4_e2m1, 7.0F}}) {
    CAPTURE(name(element));
    const auto even = [element = element](float value) {
      return e8m0_scale(element, ScaleRounding::even, value);
    };
    for (const int exponent : {-120, -1, 0, 100}) {
      const float scale = std::ldexp(1.0F, exponent);
      CHECK(even(amax * scale) == 2.0F * scale);
      CHECK(even(next_below(amax * scale)) == scale);
      CHECK(even(largest(element) * scale) == scale);
    }
    CHECK(even(amax * 0x1p-127F) == 0x1p-126F);
    CHECK(even(next_below(amax * 0x1p-127F)) == 0x1p-127F);
    CHECK(even(kTiny) == 0x1p-127F);
    CHECK(even(0.0F) == 0x1p-127F);
    CHECK(std::isnan(even(kInf)));
    CHECK(std::isnan(even(kNan)));
  }
}

TEST_CASE("scales rounded up do not clip, others clip above the largest element") {
  const auto clipped = [](ScaleRounding rounding, const Floats& values) {
    const BlockFormat format = e8m0(ElementFormat::fp4_e2m1, rounding);
    return BlockCodec(format).count(values, 0, run<BlockCodec>(format, values).scales).clipped;
  };
  CHECK(clipped(ScaleRounding::floor, {7.5F}) == 1);
  CHECK(clipped(ScaleRounding::even, {7.5F}) == 0);
  CHECK(clipped(ScaleRounding::up, {7.5F}) == 0);
  // Fewer codes for the others in exchange.
  const auto decoded = [](ScaleRounding rounding) {
    return run<BlockCodec>(e8m0(ElementFormat::fp4_e2m1, rounding), {6.5F, 0.5F}).values;
  };
  CHECK(decoded(ScaleRounding::floor) == Floats{6.0F, 0.5F});
  CHECK(decoded(ScaleRounding::even) == Floats{6.0F, 0.5F});
  CHECK(decoded(ScaleRounding::up) == Floats{6.0F, 0.0F});
}

TEST_CASE("an amax that rounds to 2^128 decodes to Inf, unless the scale is rounded down") {
  const auto decoded = [](ScaleRounding rounding) {
    return run<BlockCodec>(e8m0(ElementFormat::fp4_e2m1, rounding), {kMax}).values[0];
  };
  CHECK(decoded(ScaleRounding::floor) == 0x1.8p127F);
  CHECK(decoded(ScaleRounding::up) == kInf);
  CHECK(decoded(ScaleRounding::even) == kInf);
}

TEST_CASE("E4M3 scales are rounded and range from the smallest to the largest number") {
  const auto scale_of = [](float amax) {
    return run<BlockCodec>(format_of(ElementFormat::fp4_e2m1, ScaleFormat::e4m3), {amax}).scales[0];
  };
  REQUIRE(scale_of(6.0F) == 1.0F);
  REQUIRE(scale_of(6.0F * 17) == 16.0F);  // half way between 16 and 18
  REQUIRE(scale_of(1e9F) == 448.0F);
  REQUIRE(scale_of(1e-9F) == 0x1p-9F);
  REQUIRE(std::isnan(scale_of(kNan)));
}

namespace {

BlockFormat nvfp4(bool tensor_scale = true) {
  BlockFormat format = format_of(ElementFormat::fp4_e2m1, ScaleFormat::e4m3, 16);
  format.tensor_scale = tensor_scale;
  return format;
}

double sqnr_db(const Floats& values, const Floats& decoded) {
  double signal = 0.0;
  double noise = 0.0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    signal += double{values[i]} * values[i];
    noise += std::pow(double{decoded[i]} - values[i], 2.0);
  }
  return 10.0 * std::log10(signal / noise);
}

}  // namespace

TEST_CASE("with a tensor scale, the error of NVFP4 is independent of the deviation") {
  std::mt19937 random(3);
  const Floats normal = draw_many(Kind::normal, 1 << 17, random);
  for (const float deviation : {1.0F, 1e-4F, 1e4F, 1e-30F, 1e30F}) {
    CAPTURE(deviation);
    Floats values = normal;
    for (float& value : values) value *= deviation;
    // 20.4 dB: NVIDIA's two-level scale in an independent numpy implementation.
    CHECK(sqnr_db(values, run<BlockCodec>(nvfp4(), values).values) == Approx(20.4).margin(0.1));
    const bool in_range = deviation == 1.0F;  // of E4M3 without a tensor scale
    CHECK((sqnr_db(values, run<BlockCodec>(nvfp4(false), values).values) > 20.0) == in_range);
  }
}

TEST_CASE("the tensor scale is amax / (6 x 448) and precedes the block scales") {
  Floats values(48, 0.0F);
  values[0] = -2688.0F;
  values[20] = 6.0F;
  const Result r = run<BlockCodec>(nvfp4(), values);
  float sent = 0.0F;
  REQUIRE(r.wire_scales.size() == 4 + 3);
  std::memcpy(&sent, r.wire_scales.data(), sizeof sent);
  CHECK(sent == 1.0F);
  CHECK(r.scales == Floats{448.0F, 1.0F, 0.0F});
  CHECK(r.values == values);
}

TEST_CASE("a larger amax elsewhere determines the tensor scale, a smaller one changes nothing") {
  const BlockCodec codec(nvfp4());
  const Floats amax = {2688.0F, 6.0F, 0.0F};
  const auto encoded = [&](float elsewhere) {
    Bytes wire(4 + 3);
    codec.encode_scales(amax, wire, elsewhere);
    Floats scales(3);
    codec.decode_scales(wire, scales);
    return scales;
  };
  CHECK(encoded(2688.0F) == encoded(0.0F));
  // t is 16; block scales are 2688 / 6 / 16 = 28 and 1 / 16 of it.
  CHECK(encoded(16 * 2688.0F) == Floats{16.0F * 28.0F, 16.0F * 0x1p-4F, 0.0F});
  for (const float wrong : {-1.0F, kInf, kNan})
    REQUIRE_THROWS_WITH(encoded(wrong), ContainsSubstring("amax elsewhere"));
}

TEST_CASE("non-finite values do not contribute to the tensor scale") {
  Floats values(48, 6.0F);
  values[0] = kInf;
  values[17] = kNan;
  values[40] = 3.0F;
  const Result r = run<BlockCodec>(nvfp4(), values);
  CHECK(std::isnan(r.values[1]));
  CHECK(std::isnan(r.values[31]));
  CHECK(Floats(r.values.begin() + 32, r.values.end()) == Floats(values.begin() + 32, values.end()));
}

TEST_CASE("with a tensor scale, the largest floats stay finite and zeros stay zero") {
  for (float most : {kMax, std::nextafter(kMax, 0.0F), 3e38F, kTiny, 1e-40F}) {
    CAPTURE(most);
    const Result r = run<BlockCodec>(nvfp4(), Floats(16, most));
    CHECK(std::isfinite(r.values[0]));
    CHECK(std::abs(r.values[0] - most) <= most * 0x1p-3F + 0x1p-126F);
  }
  CHECK(run<BlockCodec>(nvfp4(), Floats(40, 0.0F)).values == Floats(40, 0.0F));
}

TEST_CASE("a tensor scale requires E4M3 scales") {
  BlockFormat format = nvfp4();
  for (const ScaleFormat other : {ScaleFormat::fp32, ScaleFormat::bf16, ScaleFormat::e8m0}) {
    format.scale = other;
    REQUIRE_THROWS_WITH(BlockCodec(format), ContainsSubstring("requires e4m3 scales, as in nvfp4"));
  }
  format.scaled = false;
  format.element = ElementFormat::bf16;
  REQUIRE_THROWS_WITH(BlockCodec(format), ContainsSubstring("requires e4m3 scales, as in nvfp4"));
}

}  // namespace equarx::block_codec_scales_test
