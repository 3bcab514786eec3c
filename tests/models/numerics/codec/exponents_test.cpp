#include "models/numerics/codec/exponents.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "models/numerics/codec/block_codec.hpp"
#include "models/numerics/codec/shared_scale.hpp"
#include "tests/catch.hpp"
#include "tests/support/reference_exponents.hpp"

namespace equarx::numerics::exponents_test {
namespace {

constexpr BlockFormat kExp8{.element = ElementFormat::exp8, .rule = ScaleRule::global_qsgd};

std::uint8_t byte(int code) { return static_cast<std::uint8_t>(code); }

/// Random words around every power of two, at both ends, and some others.
std::vector<std::uint32_t> words() {
  std::vector<std::uint32_t> found = {0, 255, 256, 511, 0xFFFFFFFFU};
  for (int bit = 8; bit < 32; ++bit)
    for (const int delta : {-256, 0, 256})
      found.push_back((1U << bit) + static_cast<std::uint32_t>(delta));
  std::mt19937 random(7);
  for (int i = 0; i < 20; ++i) found.push_back(static_cast<std::uint32_t>(random()));
  return found;
}

TEST_CASE("exp8: codes are signed powers of two, exact in FP32") {
  for (int code = 0; code < 256; ++code) {
    const float value = exponents::value_of(byte(code));
    CHECK(double{value} == testing::exponents::value_of(code));
    CHECK(std::signbit(value) == (code >= 128));
    CHECK(exponents::code_of(value) == code);
    std::array<std::byte, 1> stored{};
    std::array<float, 1> loaded{};
    BlockCodec(kExp8).quantize({&value, 1}, 0, {}, stored);
    CHECK(stored[0] == std::byte{byte(code)});
    BlockCodec(kExp8).dequantize(stored, 0, {}, loaded);
    CHECK(loaded[0] == value);
    CHECK(std::signbit(loaded[0]) == std::signbit(value));
  }
  for (const float none : {1.0F, 2.0F, 0x1p-128F, std::numeric_limits<float>::infinity(),
                           std::numeric_limits<float>::quiet_NaN()})
    CHECK(exponents::code_of(none) == 0);
}

TEST_CASE("exp8: the sum of any two codes matches Global-QSGD's code") {
  const std::vector<std::uint32_t> random = words();
  for (int one = 0; one < 256; ++one)
    for (int other = 0; other < 256; ++other)
      for (const std::uint32_t word : random) {
        if (exponents::sum_of(byte(one), byte(other), word) !=
            testing::exponents::sum(one, other, word))
          FAIL("codes " << one << " and " << other << ", random word " << word);
      }
  SUCCEED();
}

TEST_CASE("exp8: sums round to each neighbouring code with the exact probability") {
  // Outcomes are ranges of the random number, so a bisection for their boundary gives the
  // probabilities.
  constexpr int kFractions = 1 << 24;
  const auto sum_by = [](int one, int other, int fraction) {
    return int{
        exponents::sum_of(byte(one), byte(other), static_cast<std::uint32_t>(fraction) << 8)};
  };
  for (int one = 0; one < 256; ++one)
    for (int other = 0; other < 256; ++other) {
      CAPTURE(one, other);
      const int last = sum_by(one, other, kFractions - 1);
      int low = 0;  // smallest fraction from which the outcome is `last`
      for (int high = kFractions - 1; low < high;) {
        const int middle = (low + high) / 2;
        if (sum_by(one, other, middle) == last)
          high = middle;
        else
          low = middle + 1;
      }
      const testing::exponents::Codes theory = testing::exponents::sums(one, other);
      double changed = 0.0;
      for (const auto& [code, share] : theory)
        if (testing::exponents::value_of(code) != testing::exponents::value_of(last))
          changed += share;
      const double measured = static_cast<double>(low) / kFractions;
      // Probabilities between 0 and 2^-24 become 2^-24, or 0 from d = 126.
      const bool opposite = one / 128 != other / 128;
      const int distance = std::abs(one % 128 - other % 128) - (opposite ? 1 : 0);
      const bool far = one % 128 != 0 && other % 128 != 0 && distance > 24 && distance < 126;
      const double expected = far ? 0x1p-24 : changed < 0x1p-24 ? 0.0 : changed;
      if (measured != expected) FAIL("other probabilities: " << measured << ", not " << expected);
    }
  SUCCEED();
}

TEST_CASE("exp8: sums are unbiased") {
  constexpr std::size_t kDraws = 40'000;
  for (const auto& [one, other] :
       {std::pair{3, 3}, std::pair{3, 4}, std::pair{3, 6}, std::pair{5, 128 + 6},
        std::pair{128 + 5, 8}, std::pair{128 + 9, 128 + 11}, std::pair{7, 128 + 7}}) {
    CAPTURE(one, other);
    std::vector<float> sums(kDraws, exponents::value_of(byte(one)));
    const std::vector<std::byte> terms(kDraws, std::byte{byte(other)});
    const QuantizeCounts counts = exponents::add(terms, sums, {.seed = 3, .rank = 2, .hop = 9});
    CHECK(counts.elements == kDraws);
    CHECK(counts.clipped == 0);
    const double exact = testing::exponents::value_of(one) + testing::exponents::value_of(other);
    double mean = 0.0;
    double square = 0.0;
    for (const float sum : sums) {
      mean += double{sum};
      square += double{sum} * double{sum};
    }
    mean /= kDraws;
    square /= kDraws;
    const double error = std::sqrt(std::max(0.0, square - mean * mean) / kDraws);
    CHECK(std::fabs(mean - exact) <= 5.0 * error);
  }
}

TEST_CASE("exp8: random bits of sums do not depend on how a tensor is split") {
  std::vector<float> whole(1001, exponents::value_of(3));
  const std::vector<std::byte> terms(whole.size(), std::byte{5});
  std::vector<float> parts = whole;
  exponents::add(terms, whole, {.seed = 1, .rank = 4, .hop = 6, .first_element = 13});
  for (std::size_t begin = 0; begin < parts.size(); begin += 77) {
    const std::size_t size = std::min<std::size_t>(77, parts.size() - begin);
    exponents::add(std::span(terms).subspan(begin, size), std::span(parts).subspan(begin, size),
                   {.seed = 1, .rank = 4, .hop = 6, .first_element = 13 + begin});
  }
  CHECK(whole == parts);
  CHECK(std::ranges::count(whole, 0.25F) > 150);  // a quarter of them are doubled
  CHECK(std::ranges::count(whole, 0.25F) < 350);
}

TEST_CASE("exp8: a doubled 1/2 becomes 0 and is counted") {
  std::vector<float> sums = {0.5F, -0.5F, 0.5F, 0.5F, 0.25F, 0.0F};
  const std::vector<std::byte> terms = {std::byte{1}, std::byte{129}, std::byte{129},
                                        std::byte{0}, std::byte{2},   std::byte{0}};
  const QuantizeCounts counts = exponents::add(terms, sums, {});
  CHECK(sums == std::vector<float>{0.0F, 0.0F, 0.0F, 0.5F, 0.5F, 0.0F});
  CHECK(counts.clipped == 2);
  CHECK(counts.flushed == 0);
}

TEST_CASE("exp8: values round as in Global-QSGD's code, with one random number") {
  std::mt19937 random(11);
  std::uniform_real_distribution<float> log(-150.0F, -1.0F);
  std::vector<float> values = {0.0F,          -0.0F,     0.5F,
                               -0.5F,         0x1p-126F, 0x1p-127F,
                               0x1.8p-127F,   0x1p-128F, std::numeric_limits<float>::denorm_min(),
                               0x1.fffffep-2F};
  while (values.size() < 4000)
    values.push_back((random() % 2 == 0 ? 1.0F : -1.0F) * std::exp2(log(random)));
  for (const std::uint64_t first : {0U, 3U}) {
    const RoundingKey key{.seed = 21, .rank = 5, .hop = 8, .first_element = first};
    std::vector<float> rounded = values;
    exponents::round(rounded, key);
    for (std::size_t i = 0; i < values.size(); ++i) {
      const int code = testing::exponents::encode(values[i], testing::exponents::word_of(key, i));
      REQUIRE(exponents::code_of(rounded[i]) == code);
    }
  }
}

TEST_CASE("exp8: rounding of values is unbiased") {
  constexpr std::size_t kDraws = 40'000;
  for (const float value : {0.3F, -0.3F, 0.49F, 0.26F, -0.001F, 0x1p-5F, 0x1.4p-100F}) {
    std::vector<float> draws(kDraws, value);
    exponents::round(draws, {.seed = 2});
    double mean = 0.0;
    for (const float draw : draws) mean += double{draw} / kDraws;
    // The standard deviation of one draw is at most half the value, for 3/2 of a power of two.
    const double error = std::fabs(double{value}) / 2.0 / std::sqrt(double{kDraws});
    CHECK(std::fabs(mean - double{value}) <= 5.0 * error);
  }
}

TEST_CASE("exp8: the scale has headroom for all ranks and handles zeros and non-finite values") {
  for (const std::uint32_t ranks : {1U, 2U, 3U, 8U, 4096U}) {
    const SharedScale scale(kExp8, 3.0F, ranks);
    CHECK(scale.step() == 6.0F * static_cast<float>(ranks));
    CHECK(scale.largest_code() == 0.5F);
    std::vector<float> values = {3.0F, -3.0F, 0.0F, 1e-30F};
    scale.encode(values, {});
    CHECK(values[0] <= 0.5F);
    if ((ranks & (ranks - 1)) == 0) {
      CHECK(values[0] == 0.5F / static_cast<float>(ranks));  // powers of two are exact
      scale.decode(values);
      CHECK(values[0] == 3.0F);
      CHECK(values[1] == -3.0F);
      CHECK(values[2] == 0.0F);
    }
  }
  std::vector<float> zeros(4);
  const SharedScale zero(kExp8, 0.0F, 4);
  zero.encode(zeros, {});
  zero.decode(zeros);
  CHECK(zeros == std::vector<float>(4));
  constexpr float kInf = std::numeric_limits<float>::infinity();
  std::vector<float> wild = {kInf, 1.0F, std::numeric_limits<float>::quiet_NaN(), 0.0F};
  const SharedScale inf(kExp8, kInf, 4);
  inf.encode(wild, {});
  inf.decode(wild);
  CHECK(std::ranges::all_of(wild, [](float value) { return std::isnan(value); }));
}

TEST_CASE("exp8: only with Global-QSGD's scale, without scales of groups, not added as numbers") {
  CHECK_THROWS_AS(BlockCodec({.element = ElementFormat::exp8}), std::invalid_argument);
  BlockFormat format = kExp8;
  format.rule = ScaleRule::fp8lm;
  CHECK_THROWS_AS(BlockCodec(format), std::invalid_argument);
  format = kExp8;
  format.scaled = true;
  CHECK_THROWS_AS(BlockCodec(format), std::invalid_argument);
  const std::array<std::byte, 1> code{};
  std::array<float, 1> sum{};
  CHECK_THROWS_AS(BlockCodec(kExp8).dequantize_add(code, 0, {}, sum, sum), std::logic_error);
  CHECK_NOTHROW(BlockCodec(kExp8).encode_scales({}, {}));
}

}  // namespace
}  // namespace equarx::numerics::exponents_test
