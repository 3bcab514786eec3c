#include "models/stored/factors.hpp"

#include <stdexcept>

#include "models/stored/feedback.hpp"
#include "tests/catch.hpp"
#include "tests/models/stored/formats.hpp"

namespace equarx::stored::factors_test {
namespace {

TEST_CASE("factors: columns with large inputs are enlarged, which lowers the error of outputs") {
  const std::size_t columns = 32;
  std::vector<float> tokens = testing::normal_values(columns * 64);
  for (std::size_t i = 0; i < tokens.size(); i += columns) tokens[i + 3] *= 30.0F;
  const LayerInputs inputs = inputs_of_tokens(columns, tokens);
  const std::vector<float> values = testing::normal_values(16 * columns);
  const Shape shape{16, columns};
  StoredFormat plain = testing::integer_format(3, {Along::row, 16});
  StoredFormat format = plain;
  format.before.factor_steps = 20;
  const StoredFormat found = adapted(format, shape, values, inputs);
  REQUIRE(found.before.column_factors.size() == columns);
  CHECK(adapted(format, shape, values, inputs, 3).before.column_factors ==
        found.before.column_factors);
  CHECK(found.before.column_factors[3] > 2.0 * found.before.column_factors[4]);
  const auto error = [&](const StoredFormat& one) {
    return output_error(inputs, values, testing::stored_values(one, shape, values));
  };
  CHECK(error(found) < error(plain));
  CHECK(stored_bits(found, shape).before == 32 * columns);
}

TEST_CASE("factors: are all 1 for a single exponent, 0") {
  const LayerInputs inputs = testing::correlated_inputs(8, 16);
  StoredFormat format = testing::integer_format(4, {Along::row, 0});
  format.before.factor_steps = 1;
  CHECK(searched_factors(format, {2, 8}, testing::normal_values(16), inputs) ==
        std::vector<double>(8, 1.0));
}

TEST_CASE("factors: need tokens") {
  StoredFormat format = testing::integer_format(4, {Along::row, 0});
  format.before.factor_steps = 20;
  const LayerInputs known = inputs_of_hessian(1, std::vector{1.0F});
  CHECK_THROWS_WITH(searched_factors(format, {1, 1}, std::vector{1.0F}, known),
                    ContainsSubstring("a Hessian is not enough"));
}

}  // namespace
}  // namespace equarx::stored::factors_test
