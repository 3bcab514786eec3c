// block_codec where it makes scales.
#include "tests/models/numerics/codec/codecs.hpp"

using namespace equarx::numerics;

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
