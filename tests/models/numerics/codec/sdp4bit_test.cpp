#include "models/numerics/codec/sdp4bit.hpp"

#include <random>

#include "models/numerics/random/philox.hpp"
#include "tests/models/numerics/codec/reciprocal_codecs.hpp"

namespace equarx::numerics::sdp4bit_test {
namespace {

using namespace reciprocal_codecs;

/// Random number of a single element.
double unit(const RoundingKey& key, std::uint64_t element) {
  const std::uint64_t at = key.first_element + element;
  return unit_of(rounding_words(key, at / 4)[at % 4]);
}

TEST_CASE(
    "SDP4Bit: scales match the reference bit for bit, and codes for the same random numbers") {
  std::mt19937 random(5);
  std::size_t others = 0;
  std::size_t all = 0;
  for (const ElementFormat element : kElements) {
    const int most = element == ElementFormat::int8 ? 127 : 7;
    for (int exponent = -148; exponent <= 125; ++exponent) {
      const BlockFormat format = sdp4bit(element);
      const Floats values = normal_values(random, 16 * 8 + 3, std::ldexp(1.0F, exponent));
      const Coded got = code(format, values);
      for (std::size_t i = 0; i < values.size(); ++i) {
        const std::size_t begin = i / 16 * 16;
        double max = 0.0;
        for (std::size_t k = begin; k < std::min(values.size(), begin + 16); ++k)
          max = std::max(max, std::abs(double{values[k]}));
        const float factor = max == 0.0 ? 1.0F : static_cast<float>(most) / static_cast<float>(max);
        const float scale = 1.0F / factor;
        CAPTURE(describe(format), exponent, i, values[i], factor);
        REQUIRE(got.scales[i / 16] == scale);
        REQUIRE(got.values[i] == static_cast<float>(got.codes[i]) * scale);
        if (scale < std::numeric_limits<float>::min()) continue;
        const auto rounded = [&](float of) {
          const float product = values[i] * of;
          const double low = std::floor(product);
          const double up = unit(kKey, i) < product - low ? std::ceil(product) : low;
          return std::clamp(static_cast<int>(up), -most - 1, most);
        };
        REQUIRE(got.codes[i] == rounded(1.0F / scale));
        REQUIRE(std::abs(1.0F / scale - factor) <= 0x1p-22F * factor);
        others += got.codes[i] == rounded(factor) ? 0 : 1;
        ++all;
      }
    }
  }
  CHECK(all > 60'000);
  // Apart from the amax of groups, the last place of a factor matters for one code in millions.
  CHECK(others <= 5);
}

TEST_CASE("SDP4Bit: groups with subnormal scales are approximated or become zeros, never NaN") {
  for (const ElementFormat element : kElements)
    for (int exponent = -149; exponent <= -120; ++exponent) {
      Floats values(16);
      for (std::size_t i = 0; i < 16; ++i)
        values[i] = std::ldexp(1.0F, exponent) * (i % 2 == 0 ? 1.0F : -0.25F);
      const Coded got = code(sdp4bit(element), values);
      const bool lost = got.scales[0] == 0.0F;
      CHECK(lost == (exponent <= (element == ElementFormat::int8 ? -122 : -126)));
      for (std::size_t i = 0; i < 16; ++i) {
        REQUIRE(std::isfinite(got.values[i]));
        if (lost)
          CHECK(got.values[i] == 0.0F);
        else
          CHECK(std::abs(got.values[i] - values[i]) <= 1.01F * got.scales[0]);
      }
    }
}

TEST_CASE("SDP4Bit: zeros stay zero, and groups with a NaN or an Inf decode to NaN") {
  for (const ElementFormat element : kElements) {
    CHECK(code(sdp4bit(element), Floats(40, -0.0F)).values == Floats(40, 0.0F));
    for (const float special : {kNan, kInf, -kInf}) {
      Floats values(48, 1.0F);
      values[20] = special;
      const Coded got = code(sdp4bit(element), values);
      for (std::size_t i = 0; i < 48; ++i) CHECK(std::isnan(got.values[i]) == (i / 16 == 1));
    }
  }
}

TEST_CASE("SDP4Bit: rounding is unbiased and goes to a neighbouring code") {
  std::mt19937 random(6);
  const Floats values = normal_values(random, 128, 1.0F);
  constexpr int kTimes = 4000;
  for (const ElementFormat element : kElements) {
    const BlockFormat format = sdp4bit(element, 128);
    std::vector<double> sums(values.size());
    float step = 0.0F;
    for (int time = 0; time < kTimes; ++time) {
      const Coded got = code(format, values, {static_cast<std::uint64_t>(time)});
      step = got.scales[0];
      for (std::size_t i = 0; i < values.size(); ++i) {
        REQUIRE(std::abs(got.values[i] - values[i]) <= 1.000001F * step);
        sums[i] += got.values[i];
      }
    }
    for (std::size_t i = 0; i < values.size(); ++i)  // standard deviation: at most half a step
      CHECK(std::abs(sums[i] / kTimes - double{values[i]}) < 4.5 * 0.5 * step / std::sqrt(kTimes));
  }
}

}  // namespace
}  // namespace equarx::numerics::sdp4bit_test
