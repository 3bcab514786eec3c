#include "models/numerics/codec/global_qsgd.hpp"

#include <cmath>
#include <limits>
#include <random>
#include <stdexcept>
#include <vector>

#include "models/numerics/codec/block_codec.hpp"
#include "models/numerics/codec/shared_scale.hpp"
#include "tests/catch.hpp"

namespace equarx::numerics::global_qsgd_test {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();

BlockFormat global_qsgd() {
  return {.element = ElementFormat::int8, .rule = ScaleRule::global_qsgd};
}

float encoded(const SharedScale& scale, float value) {
  scale.encode({&value, 1}, {});
  return value;
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

TEST_CASE("Global-QSGD: unsupported elements are refused") {
  BlockFormat format = global_qsgd();
  format.element = ElementFormat::fp8_e4m3;
  CHECK_THROWS_AS(BlockCodec(format), std::invalid_argument);
}

}  // namespace
}  // namespace equarx::numerics::global_qsgd_test
