#include "models/stored/widths.hpp"

#include <algorithm>
#include <numeric>
#include <stdexcept>

#include "models/stored/feedback.hpp"
#include "tests/catch.hpp"
#include "tests/models/stored/formats.hpp"

namespace equarx::stored::widths_test {
namespace {

StoredFormat salience_format(int bits, std::size_t length) {
  StoredFormat format = testing::integer_format(bits, {Along::row, length},
                                                {.rule = RangeRule::min_max,
                                                 .type = numerics::ScaleFormat::fp16,
                                                 .zero_point = ZeroPoint::rounded,
                                                 .with_zero = true});
  format.widths.by_salience = true;
  format.feedback.order = FeedbackOrder::columns;
  return format;
}

/// Normal weights; columns of each group of 16 are scaled by its factor.
std::vector<float> uneven_values(std::size_t rows, const std::vector<float>& factors) {
  std::vector<float> values = testing::normal_values(rows * 16 * factors.size());
  for (std::size_t i = 0; i < values.size(); ++i) values[i] *= factors[i / 16 % factors.size()];
  return values;
}

TEST_CASE("widths: as many groups have less bits as have more, by salience") {
  const std::vector<float> values = uneven_values(32, {0.1F, 4.0F, 1.0F, 0.2F, 1.0F, 8.0F});
  const Shape shape{32, 96};
  const LayerInputs inputs = testing::correlated_inputs(96, 64);
  const StoredFormat format = adapted(salience_format(3, 16), shape, values, inputs);
  const std::vector<int>& bits = format.widths.bits;
  CHECK(adapted(salience_format(3, 16), shape, values, inputs, 3).widths.bits == bits);
  REQUIRE(bits.size() == 6);
  CHECK(std::accumulate(bits.begin(), bits.end(), 0) == 18);
  CHECK(std::ranges::min(bits) == 2);
  CHECK(bits[5] == 4);
  CHECK(bits[0] == 2);
  StoredFormat equal = format;
  equal.widths = {};
  const auto error = [&](const StoredFormat& one) {
    return output_error(inputs, values, decode(one, encode(one, shape, values, inputs)));
  };
  CHECK(error(format) < error(equal));
  CHECK(stored_bits(format, shape).codes == stored_bits(equal, shape).codes);
  CHECK(stored_bits(format, shape).zero_points == stored_bits(equal, shape).zero_points);
  CHECK(stored_bits(format, shape).total() == stored_bits(equal, shape).total() + 2 * 6);
}

TEST_CASE("widths: groups of 1 bit are binary and have a full zero point") {
  StoredFormat format = salience_format(2, 4);
  format.feedback = {};
  format.widths.bits = {1, 2, 3};
  const Shape shape{1, 12};
  const std::vector<float> values = {1, 3, 1, 3, 0, 1, 2, 3, 0, 1, 2, 7};
  const std::vector<float> decoded = testing::stored_values(format, shape, values);
  CHECK(std::vector(decoded.begin(), decoded.begin() + 4) == std::vector{0.0F, 4.0F, 0.0F, 4.0F});
  CHECK(std::equal(decoded.begin() + 4, decoded.end(), values.begin() + 4));
  const StoredBits bits = stored_bits(format, shape);
  CHECK(bits.codes == 4 * (1 + 2 + 3));
  CHECK(bits.zero_points == 16 + 2 + 3);
  CHECK(bits.widths == 6);
}

TEST_CASE("widths: other elements, bits and numbers of groups are refused") {
  StoredFormat format = salience_format(2, 4);
  format.widths.bits = {2, 4};
  CHECK_THROWS_WITH(check_widths(format), ContainsSubstring("give 2, one less or one more"));
  format.widths.bits = {2};
  CHECK_THROWS_WITH(stored_bits(format, {1, 12}), ContainsSubstring("3 groups of columns"));
  format.elements.levels = 3;
  CHECK_THROWS_WITH(check_widths(format), ContainsSubstring("remove \"levels\""));
  StoredFormat table = testing::table_format("nf4", 4, {Along::row, 4});
  table.widths.by_salience = true;
  CHECK_THROWS_WITH(check_widths(table), ContainsSubstring("integers with a zero point"));
  const LayerInputs known = inputs_of_hessian(1, std::vector{1.0F});
  CHECK_THROWS_WITH(adapted(salience_format(2, 1), {1, 1}, std::vector{1.0F}, known),
                    ContainsSubstring("a Hessian is not enough"));
}

}  // namespace
}  // namespace equarx::stored::widths_test
