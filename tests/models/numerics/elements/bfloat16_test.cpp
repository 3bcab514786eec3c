#include "models/numerics/elements/bfloat16.hpp"

#include <cmath>
#include <limits>

#include "tests/catch.hpp"

namespace equarx::bfloat16_test {

using namespace equarx::numerics;

namespace {

float from_bits(std::uint32_t bits) { return std::bit_cast<float>(bits); }

// Nearest bfloat16, by comparing the distances to both neighbours in double.
std::uint16_t nearest_bf16(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const auto below = static_cast<std::uint16_t>(bits >> 16);
  const auto above = static_cast<std::uint16_t>(below + 1);
  const double size = std::abs(static_cast<double>(value));
  const double low =
      std::abs(static_cast<double>(from_bits(static_cast<std::uint32_t>(below) << 16)));
  double high = std::abs(static_cast<double>(from_bits(static_cast<std::uint32_t>(above) << 16)));
  if (std::isinf(high)) high = 0x1p128;  // the next value if the format continued
  const double to_low = size - low;
  const double to_high = high - size;
  if (to_low == to_high) return below % 2 == 0 ? below : above;
  return to_low < to_high ? below : above;
}

}  // namespace

TEST_CASE("every bfloat16 round-trips through float, NaNs become quiet") {
  for (std::uint32_t code = 0; code <= 0xffff; ++code) {
    const auto bits = static_cast<std::uint16_t>(code);
    const bool nan = (code & 0x7fff) > 0x7f80;
    const auto expected = static_cast<std::uint16_t>(nan ? code | 0x40 : code);
    if (bf16_from_float(float_from_bf16(bits)) != expected) FAIL("code " << code);
  }
  SUCCEED();
}

TEST_CASE("bfloat16 rounds to nearest even at and around every midpoint") {
  for (std::uint32_t upper = 0; upper <= 0xffff; ++upper) {
    if ((upper & 0x7fff) >= 0x7f80) continue;
    for (std::uint32_t lower : {0x0000U, 0x0001U, 0x7fffU, 0x8000U, 0x8001U, 0xffffU}) {
      const float value = from_bits(upper << 16 | lower);
      if (bf16_from_float(value) != nearest_bf16(value)) FAIL("value " << value);
    }
  }
  SUCCEED();
}

TEST_CASE("bfloat16 preserves NaN and its sign, even with a payload in the dropped bits only") {
  REQUIRE(bf16_from_float(from_bits(0x7f800001)) == 0x7fc0);
  REQUIRE(bf16_from_float(from_bits(0xff800001)) == 0xffc0);
  REQUIRE(bf16_from_float(from_bits(0x7fffffff)) == 0x7fff);
  REQUIRE(bf16_from_float(from_bits(0xffffffff)) == 0xffff);
}

TEST_CASE("bfloat16 overflow and Inf become Inf of the same sign") {
  constexpr float kInf = std::numeric_limits<float>::infinity();
  REQUIRE(bf16_from_float(kInf) == 0x7f80);
  REQUIRE(bf16_from_float(-kInf) == 0xff80);
  REQUIRE(bf16_from_float(std::numeric_limits<float>::max()) == 0x7f80);
  REQUIRE(bf16_from_float(from_bits(0x7f7f7fff)) == 0x7f7f);
  REQUIRE(bf16_from_float(from_bits(0xff7f8000)) == 0xff80);
}

}  // namespace equarx::bfloat16_test
