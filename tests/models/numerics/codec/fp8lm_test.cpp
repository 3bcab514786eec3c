#include "models/numerics/codec/fp8lm.hpp"

#include <array>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <vector>

#include "models/numerics/codec/block_codec.hpp"
#include "models/numerics/codec/shared_scale.hpp"
#include "tests/catch.hpp"
#include "tests/support/reference_fp8.hpp"
#include "tests/support/reference_quickreduce.hpp"

namespace equarx::numerics::fp8lm_test {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

BlockFormat fp8lm(ElementFormat element = ElementFormat::fp8_e4m3, Mu mu = {}) {
  return {.element = element, .rule = ScaleRule::fp8lm, .mu = mu};
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

TEST_CASE("FP8-LM: unsupported elements and values of mu are refused") {
  CHECK_THROWS_AS(BlockCodec(fp8lm(ElementFormat::int8)), std::invalid_argument);
  CHECK_THROWS_AS(BlockCodec(fp8lm(ElementFormat::exp8)), std::invalid_argument);
  CHECK_THROWS_AS(BlockCodec(fp8lm(ElementFormat::fp8_e4m3, {Mu::Of::value, 0.0F})),
                  std::invalid_argument);
  CHECK_THROWS_AS(BlockCodec(fp8lm(ElementFormat::fp8_e4m3, {Mu::Of::value, kInf})),
                  std::invalid_argument);
}

}  // namespace
}  // namespace equarx::numerics::fp8lm_test
