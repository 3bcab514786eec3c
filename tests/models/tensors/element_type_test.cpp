#include "models/tensors/element_type.hpp"

#include <cmath>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "models/numerics/elements/float16.hpp"
#include "tests/catch.hpp"

namespace equarx::element_type_test {
namespace {

using namespace equarx::tensors;

/// IEEE 754-2008, section 3.4, in double arithmetic.
double fp16_by_formula(unsigned bits) {
  const double sign = bits >> 15 != 0 ? -1 : 1;
  const int exponent = static_cast<int>(bits >> 10 & 0x1f);
  const int mantissa = static_cast<int>(bits & 0x3ff);
  if (exponent == 31)
    return mantissa == 0 ? sign * std::numeric_limits<double>::infinity() : std::nan("");
  if (exponent == 0) return sign * std::ldexp(mantissa, -24);
  return sign * std::ldexp(1024 + mantissa, exponent - 25);
}

TEST_CASE("every fp16 code decodes as the formula") {
  for (unsigned bits = 0; bits < 65536; ++bits) {
    const float value = equarx::numerics::float_from_fp16(static_cast<std::uint16_t>(bits));
    const double expected = fp16_by_formula(bits);
    CAPTURE(bits, value, expected);
    REQUIRE(std::isnan(value) == std::isnan(expected));
    REQUIRE(std::signbit(value) == (bits >> 15 != 0));
    if (!std::isnan(expected)) REQUIRE(static_cast<double>(value) == expected);
  }
}

/// OFP8 in double arithmetic: the largest exponent encodes Inf and NaN in E5M2; E4M3 has one NaN
/// code.
double fp8_by_formula(unsigned bits, int mantissa_bits) {
  const bool e5m2 = mantissa_bits == 2;
  const double sign = bits >> 7 != 0 ? -1 : 1;
  const int exponent = static_cast<int>(bits & 0x7f) >> mantissa_bits;
  const int mantissa = static_cast<int>(bits) & ((1 << mantissa_bits) - 1);
  if (e5m2 && exponent == 31)
    return mantissa == 0 ? sign * std::numeric_limits<double>::infinity() : std::nan("");
  if (!e5m2 && (bits & 0x7f) == 0x7f) return std::nan("");
  const int smallest = (e5m2 ? -14 : -6) - mantissa_bits;
  if (exponent == 0) return sign * std::ldexp(mantissa, smallest);
  return sign * std::ldexp((1 << mantissa_bits) + mantissa, smallest + exponent - 1);
}

TEST_CASE("every FP8 code decodes as the formula") {
  std::vector<std::byte> codes(256);
  for (unsigned bits = 0; bits < 256; ++bits) codes[bits] = static_cast<std::byte>(bits);
  for (const auto& [type, mantissa_bits] :
       {std::pair{FileType::fp8_e4m3, 3}, std::pair{FileType::fp8_e5m2, 2}}) {
    REQUIRE(element_bytes(type) == 1);
    std::vector<float> values(256);
    convert_elements(type, codes, values);
    for (unsigned bits = 0; bits < 256; ++bits) {
      const double expected = fp8_by_formula(bits, mantissa_bits);
      CAPTURE(bits, values[bits], expected);
      REQUIRE(std::isnan(values[bits]) == std::isnan(expected));
      REQUIRE((std::isnan(expected) || double{values[bits]} == expected));
    }
  }
}

TEST_CASE("selected fp16 codes") {
  CHECK(equarx::numerics::float_from_fp16(0x3c00) == 1.0F);
  CHECK(equarx::numerics::float_from_fp16(0x7bff) == 65504.0F);
  CHECK(equarx::numerics::float_from_fp16(0x0001) == 0x1p-24F);  // smallest subnormal
  CHECK(equarx::numerics::float_from_fp16(0x83ff) == -0x3ffp-24F);
  CHECK(equarx::numerics::float_from_fp16(0x0400) == 0x1p-14F);  // smallest normal
  CHECK(equarx::numerics::float_from_fp16(0xfc00) == -std::numeric_limits<float>::infinity());
}

TEST_CASE("bulk conversion matches element-wise conversion at any alignment") {
  std::string stored(2 * 65536 + 1, '\0');
  for (unsigned bits = 0; bits < 65536; ++bits) {
    const auto code = static_cast<std::uint16_t>(bits);
    std::memcpy(stored.data() + 1 + 2 * bits, &code, sizeof code);
  }
  const auto bytes = std::as_bytes(std::span(stored)).subspan(1);
  std::vector<float> fp16(65536);
  std::vector<float> bf16(65536);
  convert_elements(FileType::fp16, bytes, fp16);
  convert_elements(FileType::bf16, bytes, bf16);
  for (unsigned bits = 0; bits < 65536; ++bits) {
    CAPTURE(bits);
    REQUIRE(std::bit_cast<std::uint32_t>(fp16[bits]) ==
            std::bit_cast<std::uint32_t>(
                equarx::numerics::float_from_fp16(static_cast<std::uint16_t>(bits))));
    REQUIRE(std::bit_cast<std::uint32_t>(bf16[bits]) == bits << 16);
  }
}

TEST_CASE("fp32 bits are preserved, even those of a signalling NaN") {
  const std::uint32_t stored[] = {0x7f800001, 0x80000000, 0x00000001, 0x3f800000};
  float values[4];
  convert_elements(FileType::fp32, std::as_bytes(std::span(stored)), values);
  CHECK(std::memcmp(values, stored, sizeof stored) == 0);
}

TEST_CASE("converting spans of different lengths throws std::logic_error") {
  float values[2];
  const std::vector<std::byte> stored(7);
  CHECK_THROWS_AS(convert_elements(FileType::fp32, stored, values), std::logic_error);
  CHECK_THROWS_AS(convert_elements(FileType::bf16, stored, values), std::logic_error);
  CHECK_NOTHROW(convert_elements(FileType::bf16, {}, {}));
}

}  // namespace
}  // namespace equarx::element_type_test
