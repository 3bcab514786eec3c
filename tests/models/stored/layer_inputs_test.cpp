#include "models/stored/layer_inputs.hpp"

#include <cmath>
#include <stdexcept>

#include "models/stored/rotation.hpp"
#include "tests/catch.hpp"
#include "tests/models/stored/formats.hpp"

namespace equarx::stored::layer_inputs_test {
namespace {

TEST_CASE("layer inputs: the Hessian is twice the mean product") {
  const LayerInputs inputs = inputs_of_tokens(2, std::vector{1.0F, 2.0F, 3.0F, -4.0F});
  CHECK(inputs.hessian == std::vector<double>{10, -10, -10, 20});
  const LayerInputs same = inputs_of_hessian(2, std::vector{10.0F, -10.0F, -10.0F, 20.0F});
  CHECK(same.hessian == inputs.hessian);
  CHECK(same.tokens.empty());
}

TEST_CASE("layer inputs: of several blocks and tiles, on any number of threads") {
  constexpr std::size_t kColumns = 300;
  constexpr std::size_t kTokens = 40;
  const std::vector<float> tokens = testing::normal_values(kColumns * kTokens);
  const LayerInputs inputs = inputs_of_tokens(kColumns, tokens);
  for (std::size_t i = 0; i < kColumns; ++i)
    for (std::size_t j = 0; j < kColumns; ++j) {
      double sum = 0.0;
      for (std::size_t t = 0; t < tokens.size(); t += kColumns)
        sum += double{tokens[t + i]} * double{tokens[t + j]};
      REQUIRE(inputs.hessian[i * kColumns + j] == sum * (2.0 / kTokens));
    }
  CHECK(inputs_of_tokens(kColumns, tokens, 3).hessian == inputs.hessian);
  const std::vector<float> exact = testing::normal_values(37 * kColumns);
  std::vector<float> decoded = exact;
  for (std::size_t i = 0; i < decoded.size(); i += 3) decoded[i] += 0.1F;
  const std::vector<double> outputs = outputs_of(inputs, exact);
  const std::vector<double> rounded = outputs_of(inputs, decoded);
  double error = 0.0;
  double size = 0.0;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    error += (outputs[i] - rounded[i]) * (outputs[i] - rounded[i]);
    size += outputs[i] * outputs[i];
  }
  CHECK(output_error(inputs, exact, decoded) == Approx(error / size));
  CHECK(output_error(inputs, exact, decoded, 3) == output_error(inputs, exact, decoded));
}

TEST_CASE("layer inputs: the error of outputs equals the one of products") {
  const LayerInputs inputs = testing::correlated_inputs(8, 32);
  const std::vector<float> exact = testing::normal_values(24);
  std::vector<float> decoded = exact;
  for (std::size_t i = 0; i < decoded.size(); i += 3) decoded[i] += 0.25F;
  const std::vector<double> outputs = outputs_of(inputs, exact);
  const std::vector<double> rounded = outputs_of(inputs, decoded);
  double error = 0.0;
  double size = 0.0;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    error += std::pow(outputs[i] - rounded[i], 2);
    size += std::pow(outputs[i], 2);
  }
  CHECK(output_error(inputs, exact, decoded) == Approx(error / size));
  CHECK(output_error(inputs, exact, exact) == 0.0);
}

TEST_CASE("layer inputs: outputs are unchanged by a transform of weights and inputs") {
  const LayerInputs inputs = testing::correlated_inputs(4, 16);
  std::vector<float> values = testing::normal_values(12);
  std::vector<float> decoded = testing::normal_values(24);
  decoded.erase(decoded.begin(), decoded.begin() + 12);
  const Before before{.hadamard = 2, .column_factors = {1, 2, 0.5, -4}};
  const double error = output_error(inputs, values, decoded);
  const std::vector<double> outputs = outputs_of(inputs, values);
  const LayerInputs turned = transformed(before, inputs);
  transform(before, {3, 4}, values);
  transform(before, {3, 4}, decoded);
  CHECK(output_error(turned, values, decoded) == Approx(error).epsilon(1e-5));
  const std::vector<double> same = outputs_of(turned, values);
  for (std::size_t i = 0; i < outputs.size(); ++i)
    CHECK(same[i] == Approx(outputs[i]).margin(1e-4));
}

TEST_CASE("layer inputs: what is no Hessian is refused") {
  CHECK_THROWS_WITH(inputs_of_hessian(2, std::vector{1.0F, 2.0F}), ContainsSubstring("2 x 2"));
  CHECK_THROWS_WITH(inputs_of_hessian(2, std::vector{1.0F, 0.5F, 0.25F, 1.0F}),
                    ContainsSubstring("not symmetric in row 0, column 1"));
  CHECK_THROWS_WITH(inputs_of_hessian(1, std::vector{-1.0F}), ContainsSubstring("negative"));
  CHECK_THROWS_WITH(inputs_of_hessian(1, std::vector{INFINITY}), ContainsSubstring("NaN or Inf"));
  CHECK_THROWS_WITH(inputs_of_tokens(2, std::vector{1.0F}), ContainsSubstring("no rows of 2"));
}

}  // namespace
}  // namespace equarx::stored::layer_inputs_test
