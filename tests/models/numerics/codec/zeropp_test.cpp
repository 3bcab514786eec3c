#include "models/numerics/codec/zeropp.hpp"

#include "models/numerics/elements/float16.hpp"
#include "tests/models/numerics/codec/reciprocal_codecs.hpp"

namespace equarx::numerics::zeropp_test {
namespace {

using namespace reciprocal_codecs;

/// Returns the nearest FP16 number, ties to even; Inf beyond the largest.
double half(double exact) {
  if (std::isnan(exact) || std::isinf(exact) || exact == 0.0) return exact;
  const double step = std::ldexp(1.0, std::max(std::ilogb(exact), -14) - 10);
  const double rounded = std::nearbyint(exact / step) * step;
  return std::abs(rounded) > 65504.0 ? std::copysign(INFINITY, exact) : rounded;
}
float single(double exact) { return static_cast<float>(exact); }

/// One group, computed value by value as in the reference code.
struct Group {
  float scale;
  std::vector<int> codes;
  std::vector<double> values;
};

/// DeepSpeed's csrc/includes/quantization_utils.h. Its maximum starts at -Inf and ignores NaN.
Group zeropp_oracle(int bits, const std::vector<double>& input) {
  double max = -INFINITY;
  for (const double value : input)
    if (!std::isnan(value)) max = std::max(max, std::abs(half(value)));
  const float factor = max == 0.0 ? 1.0F : single(std::ldexp(1.0, bits) / (2.0 * max));
  Group group{single(1.0 / factor), {}, {}};
  for (const double value : input) {
    const float product = single(half(value) * factor);
    int code = std::isnan(product) ? 0 : static_cast<int>(std::nearbyint(product));
    code = std::min(std::max(code, -(1 << (bits - 1))), (1 << (bits - 1)) - 1);
    group.codes.push_back(code);
    group.values.push_back(half(single(double{group.scale} * code)));
  }
  return group;
}

bool is(float got, double expected) {
  return std::isnan(expected) ? std::isnan(got) : static_cast<double>(got) == expected;
}

void check_zeropp(const BlockFormat& format, const Floats& values) {
  const Coded got = code(format, values);
  for (std::size_t begin = 0; begin < values.size(); begin += format.block) {
    const std::size_t end = std::min(values.size(), begin + format.block);
    const Group expected = zeropp_oracle(static_cast<int>(element_bits(format.element)),
                                         {values.begin() + begin, values.begin() + end});
    CAPTURE(describe(format), begin);
    if (!std::isinf(expected.scale)) REQUIRE(got.scales[begin / format.block] == expected.scale);
    for (std::size_t i = begin; i < end; ++i) {
      CAPTURE(i, values[i]);
      REQUIRE(got.codes[i] == expected.codes[i - begin]);
      REQUIRE(is(got.values[i], expected.values[i - begin]));
    }
  }
}

TEST_CASE("ZeRO++: random groups of all magnitudes match the oracle bit for bit") {
  std::mt19937 random(1);
  for (const ElementFormat element : kElements)
    for (int exponent = -28; exponent <= 17; ++exponent)
      check_zeropp(zeropp(element), normal_values(random, 16 * 32 + 5, std::ldexp(1.0F, exponent)));
}

TEST_CASE("ZeRO++: all FP16 values with amax that make them codes, ties or out of range",
          "[long]") {
  for (const ElementFormat element : kElements)
    for (const float most :
         {1.0F, -1.0F, 8.0F, -31.0F, 1000.0F, 0x1p-15F, 0x1p-24F, -0x3p-24F, 65504.0F}) {
      Floats values;
      for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
        if (values.size() % 16 == 0) values.push_back(most);
        values.push_back(float_from_fp16(static_cast<std::uint16_t>(bits)));
      }
      check_zeropp(zeropp(element), values);
    }
}

TEST_CASE("ZeRO++: every FP16 amax can be recovered from its scale") {
  for (const ElementFormat element : kElements) {
    Floats values;
    for (std::uint16_t bits = 0; bits <= 0x7c00; ++bits) {
      values.push_back(float_from_fp16(bits));
      values.push_back(0.4375F * float_from_fp16(bits));  // tie of int4, near a tie of int8
    }
    check_zeropp(zeropp(element, 2), values);
  }
}

TEST_CASE("ZeRO++: ties round to even, and the amax gets the lowest code or is clipped") {
  Floats values{-8.0F, 8.0F};  // the factor is 1
  for (int i = 0; i < 15; ++i) values.push_back(static_cast<float>(i) - 7.5F);
  const Coded got = code(zeropp(ElementFormat::int4, 32), values);
  CHECK(got.scales[0] == 1.0F);
  CHECK(got.codes == std::vector<int>{-8, 7, -8, -6, -6, -4, -4, -2, -2, 0, 0, 2, 2, 4, 4, 6, 6});
}

TEST_CASE(
    "ZeRO++: zeros stay zero, a NaN among numbers vanishes, and an Inf turns its group into NaN") {
  for (const ElementFormat element : kElements)
    for (const float special : {kNan, kInf, -kInf, 65520.0F, 0.0F, -0.0F, 0x1p-25F}) {
      Floats values(64, 0.25F);
      values[20] = special;
      check_zeropp(zeropp(element), values);
      check_zeropp(zeropp(element), Floats(32, special));
      values[21] = kNan;
      check_zeropp(zeropp(element), values);
    }
  Floats values(32, 1.0F);
  values[3] = kNan;
  values[20] = kInf;
  const Coded got = code(zeropp(ElementFormat::int8), values);
  CHECK(got.values[3] == 0.0F);
  for (std::size_t i = 16; i < 32; ++i) CHECK(std::isnan(got.values[i]));
}

TEST_CASE("ZeRO++: sums are rounded to FP16 and overflow to Inf") {
  std::mt19937 random(3);
  for (const ElementFormat element : kElements) {
    const BlockFormat format = zeropp(element);
    const Floats values = normal_values(random, 256, 100.0F);
    Floats local = normal_values(random, 256, 1.0F);  // not FP16
    local[7] = values[7] < 0.0F ? -65504.0F : 65504.0F;
    const BlockCodec codec(format);
    const Coded coded = code(format, values);
    Floats sums(256);
    codec.dequantize_add(coded.payload, 0, coded.scales, local, sums);
    for (std::size_t i = 0; i < sums.size(); ++i)
      REQUIRE(is(sums[i], half(half(local[i]) + double{coded.values[i]})));
    Floats amax(coded.scales.size());
    codec.dequantize_add_amax(coded.payload, 0, coded.scales, local, local, amax);
    CHECK(local == sums);
    Floats expected(amax.size());
    codec.find_amax(sums, 0, expected);
    CHECK(amax == expected);
  }
}

}  // namespace
}  // namespace equarx::numerics::zeropp_test
