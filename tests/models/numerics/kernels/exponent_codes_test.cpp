#include "models/numerics/kernels/exponent_codes.hpp"

#include <bit>
#include <cmath>
#include <random>

#include "models/numerics/codec/exponents.hpp"
#include "tests/models/numerics/codec/codecs.hpp"
#include "tests/support/reference_exponents.hpp"

namespace equarx::numerics::exponent_codes_test {
namespace {

constexpr std::size_t kCounts[] = {1, 5, 16, 1000, 3000};
constexpr std::uint64_t kFirsts[] = {0, 3, 1021};

RoundingKey key_from(std::uint64_t first) { return {7, 3, 5, first}; }

std::uint32_t word_of(const RoundingKey& key, std::uint64_t i) {
  return testing::exponents::word_of(key, i);
}

/// Rounding in double, in which no FP32 value is subnormal.
float rounded(float value, std::uint32_t word) {
  const double magnitude = std::fabs(double{value});
  if (!(magnitude > 0.0)) return 0.0F;
  const auto bits = std::bit_cast<std::uint64_t>(magnitude);
  const std::uint64_t mantissa = bits & ((std::uint64_t{1} << 52) - 1);
  const bool up = std::uint64_t{word >> 8} << 28 < mantissa;
  const int exponent = 1023 - static_cast<int>(bits >> 52) - (up ? 1 : 0);
  const int code = std::clamp(exponent, 1, 127) + (value < 0.0F ? 128 : 0);
  return numerics::exponents::value_of(static_cast<std::uint8_t>(code));
}

/// Magnitudes of all binades, and subnormals.
Floats of_all_binades(std::size_t count, std::mt19937& random) {
  Floats values(count);
  for (float& value : values) {
    const auto bits = static_cast<std::uint32_t>(random());
    const float number = 1.0F + static_cast<float>(bits >> 9) * 0x1p-23F;
    value = std::ldexp(bits % 2 == 0 ? number : -number, 2 - static_cast<int>(random() % 152));
  }
  return values;
}

/// Calls check(values, key) for values of every kind.
template <class Check>
void for_each_draw(Check check) {
  on_every_target([&] {
    std::mt19937 random(2);
    for (const std::uint64_t first : kFirsts)
      for (const std::size_t count : kCounts) {
        check(of_all_binades(count, random), key_from(first));
        for (const Kind kind : kKinds) check(draw_many(kind, count, random), key_from(first));
      }
  });
}

TEST_CASE("kernels of exponents round as the scalar rule") {
  for_each_draw([](const Floats& values, const RoundingKey& key) {
    Floats expected;
    for (std::size_t i = 0; i < values.size(); ++i)
      expected.push_back(rounded(values[i], word_of(key, i)));
    Floats got = values;
    kernels::exponents::round(got, key);
    REQUIRE(same(got, expected));
  });
}

TEST_CASE("kernels of exponents store the code of the next lower power of two, and load it") {
  for_each_draw([](const Floats& values, const RoundingKey&) {
    Bytes codes(values.size());
    kernels::exponents::store(values, codes.data());
    Floats loaded(values.size());
    kernels::exponents::load(codes.data(), loaded);
    for (std::size_t i = 0; i < values.size(); ++i) {
      const std::uint8_t code = numerics::exponents::code_of(values[i]);
      REQUIRE(std::to_integer<std::uint8_t>(codes[i]) == code);
      const float value = numerics::exponents::value_of(code);
      REQUIRE(std::bit_cast<std::uint32_t>(loaded[i]) == std::bit_cast<std::uint32_t>(value));
    }
  });
}

TEST_CASE("kernels of exponents add as the scalar rule, and count doubled halves") {
  on_every_target([] {
    std::mt19937 random(3);
    for (const std::uint64_t first : kFirsts)
      for (const std::size_t count : kCounts)
        for (const unsigned most : {127U, 6U, 2U}) {
          const RoundingKey key = key_from(first);
          const auto draw = [&] {
            return static_cast<std::uint8_t>(random() % (most + 1) + random() % 2 * 128);
          };
          Bytes terms(count);
          Floats sums(count);
          Floats expected(count);
          std::uint64_t doubled = 0;
          for (std::size_t i = 0; i < count; ++i) {
            const std::uint8_t one = draw();
            const std::uint8_t other = draw();
            terms[i] = std::byte{other};
            sums[i] = numerics::exponents::value_of(one);
            const std::uint8_t sum = numerics::exponents::sum_of(one, other, word_of(key, i));
            expected[i] = numerics::exponents::value_of(sum);
            const bool both = one % 128 != 0 && other % 128 != 0;
            doubled += both && one / 128 == other / 128 && sum % 128 == 0 ? 1 : 0;
          }
          REQUIRE(kernels::exponents::add(terms.data(), sums, key) == doubled);
          REQUIRE(same(sums, expected));
        }
  });
}

}  // namespace
}  // namespace equarx::numerics::exponent_codes_test
