#include "models/numerics/codec/shared_scale.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <random>
#include <stdexcept>
#include <vector>

#include "models/numerics/codec/block_codec.hpp"
#include "tests/catch.hpp"
#include "tests/support/reference_fp8.hpp"
#include "tests/support/reference_quickreduce.hpp"

namespace equarx::numerics::shared_scale_test {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

BlockFormat fp8lm(ElementFormat element = ElementFormat::fp8_e4m3, Mu mu = {}) {
  return {.element = element, .rule = ScaleRule::fp8lm, .mu = mu};
}

BlockFormat global_qsgd() {
  return {.element = ElementFormat::int8, .rule = ScaleRule::global_qsgd};
}

float encoded(const SharedScale& scale, float value) {
  scale.encode({&value, 1}, {});
  return value;
}

TEST_CASE("FP8-LM: the scale is mu times the power of two that fits amax to the largest code") {
  for (const auto& [element, largest] :
       {std::pair{ElementFormat::fp8_e4m3, 448.0}, std::pair{ElementFormat::fp8_e5m2, 57344.0}})
    for (const std::uint32_t ranks : {1U, 2U, 3U, 4U, 16U, 64U})
      for (const float amax : {1e-20F, 3e-5F, 0.75F, 1.0F, 447.9F, 448.0F, 449.0F, 6e4F, 1e30F}) {
        CAPTURE(ranks, amax, name(element));
        // Searches the largest power of two with amax x power <= largest.
        double power = std::ldexp(1.0, 120);
        while (double{amax} * power > largest) power /= 2.0;
        const float factor = static_cast<float>(power) *
                             static_cast<float>(1.0 / std::sqrt(static_cast<double>(ranks)));
        CHECK(SharedScale(fp8lm(element), amax, ranks).step() == 1.0F / factor);
        for (const auto& [of, mu] :
             {std::pair{Mu::Of::pre_scaling, 1.0F / static_cast<float>(ranks)},
              std::pair{Mu::Of::post_scaling, 1.0F}, std::pair{Mu::Of::value, 0.3F}})
          CHECK(SharedScale(fp8lm(element, {of, 0.3F}), amax, ranks).step() ==
                1.0F / (static_cast<float>(power) * mu));
      }
}

TEST_CASE("FP8-LM: codes are the nearest FP8 to value x scale, for all codes and ties") {
  for (const auto& [element, reference] :
       {std::pair{ElementFormat::fp8_e4m3, testing::fp8::kE4m3},
        std::pair{ElementFormat::fp8_e5m2, testing::fp8::kE5m2}}) {
    const std::vector<double> values = reference.values();
    for (const std::uint32_t ranks : {1U, 4U}) {
      const SharedScale scale(fp8lm(element), static_cast<float>(reference.largest) / 8.0F, ranks);
      const double factor = ranks == 1 ? 8.0 : 4.0;
      CHECK(double{scale.step()} == 1.0 / factor);
      for (std::size_t code = 0; code + 1 < values.size(); ++code)
        for (const double part : {0.0, 0.25, 0.5, 0.50001, 0.75}) {
          const double target = values[code] + part * (values[code + 1] - values[code]);
          for (const double sign : {1.0, -1.0}) {
            const auto value = static_cast<float>(sign * target / factor);
            REQUIRE(double{encoded(scale, value)} ==
                    testing::fp8::nearest(values, double{value} * factor));
          }
        }
    }
  }
}

TEST_CASE("FP8-LM: sums of two FP8 values match rounding to half precision and then to FP8") {
  for (const auto& [element, reference] :
       {std::pair{ElementFormat::fp8_e4m3, testing::fp8::kE4m3},
        std::pair{ElementFormat::fp8_e5m2, testing::fp8::kE5m2}}) {
    const std::vector<double> values = reference.values();
    const BlockCodec codec(fp8lm(element));
    for (const double a : values)
      for (const double size : values)
        for (const double b : {size, -size}) {
          const std::array one{static_cast<float>(a)};
          std::array sum{static_cast<float>(b)};
          std::array<std::byte, 1> code{};
          codec.quantize(one, 0, {}, code);
          codec.dequantize_add(code, 0, {}, sum, sum);
          codec.quantize(sum, 0, {}, code);
          codec.dequantize(code, 0, {}, sum);
          REQUIRE(double{sum[0]} ==
                  testing::fp8::nearest(values, testing::quickreduce::half(a + b)));
        }
  }
}

TEST_CASE("FP8-LM: zero tensors and non-finite values") {
  const SharedScale zero(fp8lm(), 0.0F, 4);
  CHECK(zero.step() == 2.0F);
  CHECK(encoded(zero, 0.0F) == 0.0F);
  const SharedScale inf(fp8lm(), kInf, 1);  // 2^e is kept from the previous step, here 1
  CHECK(inf.step() == 1.0F);
  CHECK(encoded(inf, kInf) == 448.0F);
  CHECK(encoded(inf, -kInf) == -448.0F);
  CHECK(std::isnan(encoded(inf, kNan)));
  CHECK(encoded(SharedScale(fp8lm(ElementFormat::fp8_e5m2), kInf, 1), kInf) == 57344.0F);
  const SharedScale tiny(fp8lm(), std::numeric_limits<float>::denorm_min(), 1);
  CHECK(std::isnormal(tiny.step()));
}

TEST_CASE("Global-QSGD: codes round x / s to a neighbouring integer without bias") {
  std::mt19937 random(3);
  for (const std::uint32_t ranks : {1U, 2U, 3U, 8U, 64U, 127U}) {
    constexpr float kAmax = 3.7F;
    const SharedScale scale(global_qsgd(), kAmax, ranks);
    const float step = static_cast<float>(ranks) * kAmax * (1.0F / 127.0F);
    CHECK(scale.step() == step);
    std::uniform_real_distribution<float> uniform(-kAmax, kAmax);
    for (int k = 0; k < 20; ++k) {
      const float value = uniform(random);
      constexpr std::size_t kDraws = 20'000;
      std::vector<float> codes(kDraws, value);
      scale.encode(codes,
                   {.seed = 5, .rank = 1, .first_element = static_cast<std::uint64_t>(k) * kDraws});
      const double exact = double{value / step};
      double mean = 0.0;
      for (const float code : codes) {
        REQUIRE((code == std::floor(exact) || code == std::ceil(exact)));
        mean += double{code} / kDraws;
      }
      // Five standard deviations of the mean; a single draw has at most 1/2.
      CHECK(std::fabs(mean - exact) < 5.0 * 0.5 / std::sqrt(double{kDraws}));
    }
    CHECK(std::fabs(encoded(scale, kAmax)) <= std::ceil(127.0F / static_cast<float>(ranks)));
  }
}

TEST_CASE("Global-QSGD: integer sums wrap and are counted") {
  const BlockCodec codec(global_qsgd());
  const std::vector<float> sums = {-129.0F, -128.0F, -1.0F, 0.0F, 127.0F, 128.0F, 130.0F, 254.0F};
  const std::vector<float> expected = {127.0F, -128.0F, -1.0F,   0.0F,
                                       127.0F, -128.0F, -126.0F, -2.0F};
  std::vector<std::byte> bytes(sums.size());
  codec.quantize(sums, 0, {}, bytes);
  std::vector<float> decoded(sums.size());
  codec.dequantize(bytes, 0, {}, decoded);
  CHECK(decoded == expected);
  const QuantizeCounts counts = codec.count(sums, 0, {});
  CHECK(counts.elements == sums.size());
  CHECK(counts.clipped == 4);
}

TEST_CASE("Global-QSGD: zero tensors and non-finite values") {
  const SharedScale zero(global_qsgd(), 0.0F, 4);
  float value = encoded(zero, 0.0F);
  CHECK(value == 0.0F);
  zero.decode({&value, 1});
  CHECK(value == 0.0F);
  const SharedScale inf(global_qsgd(), kInf, 4);
  value = encoded(inf, 1.0F);
  inf.decode({&value, 1});
  CHECK(std::isnan(value));
}

TEST_CASE("a shared scale refuses other formats and too many ranks") {
  CHECK_THROWS_AS(SharedScale({}, 1.0F, 2), std::invalid_argument);
  CHECK_THROWS_AS(SharedScale(fp8lm(), -1.0F, 2), std::invalid_argument);
  CHECK_THROWS_AS(SharedScale(fp8lm(), kNan, 2), std::invalid_argument);
  CHECK_THROWS_AS(SharedScale(fp8lm(), 1.0F, 0), std::invalid_argument);
  CHECK_THROWS_AS(SharedScale(global_qsgd(), 1.0F, 128), std::invalid_argument);
  CHECK_NOTHROW(SharedScale(fp8lm(), 1.0F, 4096));
}

TEST_CASE("a codec refuses shared scales with unsupported elements") {
  CHECK_THROWS_AS(BlockCodec(fp8lm(ElementFormat::int8)), std::invalid_argument);
  BlockFormat format = global_qsgd();
  format.element = ElementFormat::fp8_e4m3;
  CHECK_THROWS_AS(BlockCodec(format), std::invalid_argument);
  format = global_qsgd();
  format.scaled = true;
  CHECK_THROWS_AS(BlockCodec(format), std::invalid_argument);
  format = global_qsgd();
  format.rounding = Rounding::stochastic;  // supported for casts, not for sums
  CHECK_THROWS_AS(BlockCodec(format), std::invalid_argument);
  CHECK_THROWS_AS(BlockCodec(fp8lm(ElementFormat::fp8_e4m3, {Mu::Of::value, 0.0F})),
                  std::invalid_argument);
  CHECK_THROWS_AS(BlockCodec(fp8lm(ElementFormat::fp8_e4m3, {Mu::Of::value, kInf})),
                  std::invalid_argument);
}

}  // namespace
}  // namespace equarx::numerics::shared_scale_test
