#include "models/gemm/matmul.hpp"

#include "models/numerics/elements/float16.hpp"
#include "tests/catch.hpp"
#include "tests/models/gemm/schemes.hpp"

namespace equarx::gemm::matmul_test {
namespace {

using stored::StoredFormat;
using stored::testing::nmse;
using testing::integer_scheme;
using testing::integers;
using testing::Values;
using testing::weight_only;

/// Products added in FP32 in the order of inputs.
std::vector<float> slow_product(const std::vector<float>& x, const std::vector<float>& w,
                                std::size_t inputs, bool rounds_to_fp16 = false) {
  std::vector<float> result;
  for (std::size_t row = 0; row < x.size(); row += inputs)
    for (std::size_t output = 0; output < w.size(); output += inputs) {
      float sum = 0.0F;
      for (std::size_t k = 0; k < inputs; ++k) {
        sum += x[row + k] * w[output + k];
        if (rounds_to_fp16) sum = numerics::round_to_fp16(sum);
      }
      result.push_back(sum);
    }
  return result;
}

std::vector<float> bf16_values(std::vector<float> values) {
  for (float& value : values) value = rounded(value, Unit::bf16);
  return values;
}

TEST_CASE("matmul: int8, bit planes and tables give the same bits") {
  const Values x(5, 192);
  const Values w(70, 192);
  for (const StoredFormat& weights :
       {integers(2, 0, testing::kShifted), integers(4, 32), integers(3, 64, testing::kShifted)})
    for (const StoredFormat& activations : {integers(4), integers(2, 96, testing::kShifted)}) {
      const auto expected = matmul(integer_scheme(weights, activations, Unit::int8), x, w);
      CHECK(matmul(integer_scheme(weights, activations, Unit::int1), x, w) == expected);
      CHECK(matmul(integer_scheme(weights, activations, Unit::table), x, w) == expected);
    }
}

TEST_CASE("matmul: scales of powers of two may be applied before the product or by group") {
  // Integers and their sums are exact in FP32, so both orders give the same bits.
  const stored::Scale power{.rule = stored::RangeRule::power_of_two_up};
  const Values x(4, 256);
  const Values w(9, 256);
  Scheme scheme = integer_scheme(integers(4, 32, power), integers(8, 0, power), Unit::int8);
  const auto by_group = matmul(scheme, x, w);
  scheme.unit = Unit::fp32;
  scheme.accumulate = Accumulator::fp32;
  CHECK(matmul(scheme, x, w) == by_group);
  scheme.scales = ScalePlacement::before;
  CHECK(matmul(scheme, x, w) == by_group);
}

TEST_CASE("matmul: any scales before the product or by group differ by rounding only") {
  const Values x(4, 256);
  const Values w(9, 256);
  Scheme scheme = integer_scheme(integers(4, 32), integers(8), Unit::int8);
  const auto by_group = matmul(scheme, x, w);
  scheme.unit = Unit::fp32;
  scheme.accumulate = Accumulator::fp32;
  scheme.scales = ScalePlacement::before;
  const auto before = matmul(scheme, x, w);
  CHECK(before != by_group);
  CHECK(nmse(before, by_group) < 1e-12);
}

TEST_CASE("matmul: floats are added in the order of inputs") {
  const Values x(3, 160);
  const Values w(70, 160);  // more than a panel
  const Scheme plain{.source = "", .weights = std::nullopt, .activations = std::nullopt};
  CHECK(matmul(plain, x, w) == slow_product(bf16_values(x.values), bf16_values(w.values), 160));
  const StoredFormat nf4 = stored::testing::table_format("nf4", 4, {stored::Along::row, 32});
  const auto decoded = stored::testing::stored_values(nf4, w.shape, w.values);
  CHECK(matmul(weight_only(nf4, Unit::fp32), x, w) == slow_product(x.values, decoded, 160));
  Scheme half = weight_only(integers(4), Unit::fp32);
  half.accumulate = Accumulator::fp16;
  const auto int4 = stored::testing::stored_values(integers(4), w.shape, w.values);
  CHECK(matmul(half, x, w) == slow_product(x.values, int4, 160, true));
}

TEST_CASE("matmul: FP8 blocks add scaled sums of 128 products") {
  const Values x(2, 256);
  const Values w(3, 256);
  Scheme scheme = integer_scheme(
      testing::e4m3_format({.along = stored::Along::block, .length = 128, .rows = 2}),
      testing::e4m3_format({stored::Along::row, 128}), Unit::fp8);
  scheme.accumulate = Accumulator::fp32;
  const auto product = matmul(scheme, x, w);
  const auto x_codes = stored::encode(*scheme.activations, x.shape, x.values);
  const auto w_codes = stored::encode(*scheme.weights, w.shape, w.values);
  const auto decoded_x = stored::decode(*scheme.activations, x_codes);
  const auto decoded_w = stored::decode(*scheme.weights, w_codes);
  for (std::size_t row = 0; row < 2; ++row)
    for (std::size_t output = 0; output < 3; ++output) {
      float total = 0.0F;
      for (std::size_t g = 0; g < 2; ++g) {
        const float x_scale = x_codes.scales[row * 2 + g];
        const float w_scale = w_codes.scales[output / 2 * 2 + g];
        float sum = 0.0F;
        for (std::size_t k = g * 128; k < g * 128 + 128; ++k)
          sum += decoded_x[row * 256 + k] / x_scale * (decoded_w[output * 256 + k] / w_scale);
        total += sum * (x_scale * w_scale);
      }
      CHECK(product[row * 3 + output] == Approx(total).epsilon(1e-6));
    }
}

TEST_CASE("matmul: rotations and factors of both operands cancel") {
  const Values x(4, 64);
  const Values w(5, 64);
  Scheme scheme = integer_scheme(integers(8), integers(8), Unit::int8);
  const auto exact = exact_matmul(x, w);
  const std::vector<float> expected(exact.begin(), exact.end());
  scheme.weights->before = {.hadamard = 64, .column_factors = std::vector<double>(64, 4.0)};
  scheme.activations->before = {.hadamard = 64, .column_factors = std::vector<double>(64, 0.25)};
  CHECK(nmse(matmul(scheme, x, w), expected) < 1e-4);
}

TEST_CASE("matmul: results do not depend on threads") {
  const Values x(33, 128);
  const Values w(200, 128);
  for (const Unit unit : {Unit::int8, Unit::int1}) {
    const Scheme scheme = integer_scheme(integers(4, 32), integers(4), unit);
    CHECK(matmul(scheme, x, w, 3) == matmul(scheme, x, w, 1));
  }
  const Scheme scheme = weight_only(integers(4, 32), Unit::bf16);
  CHECK(matmul(scheme, x, w, 3) == matmul(scheme, x, w, 1));
  CHECK(exact_matmul(x, w, 3) == exact_matmul(x, w, 1));
}

TEST_CASE("matmul: the error falls with the bits of the weights") {
  const Values x(16, 256);
  const Values w(32, 256);
  const auto exact = exact_matmul(x, w);
  const std::vector<float> expected(exact.begin(), exact.end());
  double last = 1.0;
  for (const int bits : {2, 3, 4, 6, 8}) {
    const double error = nmse(matmul(weight_only(integers(bits, 32), Unit::bf16), x, w), expected);
    CHECK(error < last / 2);
    last = error;
  }
}

TEST_CASE("matmul: other shapes, and sums beyond int32, are refused") {
  const Scheme scheme = integer_scheme(integers(8), integers(8), Unit::int8);
  CHECK_THROWS_WITH(matmul(scheme, Values(2, 8), Values(2, 16)),
                    ContainsSubstring("both need one per input"));
  CHECK_THROWS_WITH(matmul(scheme, Values(1, 140000), Values(1, 140000)),
                    ContainsSubstring("use groups along the rows"));
}

}  // namespace
}  // namespace equarx::gemm::matmul_test
