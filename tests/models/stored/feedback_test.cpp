#include "models/stored/feedback.hpp"

#include <algorithm>
#include <cmath>
#include <span>
#include <stdexcept>

#include "tests/catch.hpp"
#include "tests/models/stored/formats.hpp"

namespace equarx::stored::feedback_test {
namespace {

using testing::correlated_inputs;
using testing::integer_format;
using testing::normal_values;

constexpr Groups kRows{Along::row, 32};
constexpr Scale kMinMax{.rule = RangeRule::min_max,
                        .type = numerics::ScaleFormat::fp16,
                        .zero_point = ZeroPoint::rounded};

std::vector<StoredFormat> row_formats() {
  StoredFormat apart = testing::table_format("nf3", 3, kRows);
  apart.apart = {.largest = 0.01};
  StoredFormat rotated = integer_format(3, kRows, kMinMax);
  rotated.before = {.hadamard = 16, .column_factors = std::vector<double>(64, 0.5)};
  return {integer_format(3, kRows),
          integer_format(2, kRows, kMinMax),
          testing::e2m1_format(kRows, {}),
          testing::e2m1_format({Along::row, 16},
                               {.type = numerics::ScaleFormat::e4m3, .of_tensor = true}),
          testing::table_format("nf4", 4, {Along::tensor, 32}),
          testing::kmeans_format(2, {Along::row, 0}),
          apart,
          rotated};
}

StoredFormat with_feedback(StoredFormat format, FeedbackOrder order) {
  format.feedback.order = order;
  return format;
}

double error_of(const StoredFormat& format, const LayerInputs& inputs,
                const std::vector<float>& values) {
  const Shape shape{values.size() / inputs.columns, inputs.columns};
  return output_error(inputs, values, decode(format, encode(format, shape, values, inputs, {})));
}

TEST_CASE("feedback: lowers the error of outputs in every format with groups in rows") {
  const std::vector<float> values = normal_values(64 * 64);
  for (const StoredFormat& format : row_formats()) {
    double plain = 0.0;
    double columns = 0.0;
    double largest = 0.0;
    for (std::uint32_t seed = 1; seed <= 5; ++seed) {
      const LayerInputs inputs = correlated_inputs(64, 128, seed);
      plain += error_of(format, inputs, values);
      columns += error_of(with_feedback(format, FeedbackOrder::columns), inputs, values);
      largest += error_of(with_feedback(format, FeedbackOrder::largest), inputs, values);
    }
    CHECK(columns < plain);
    CHECK(largest < plain);
  }
}

TEST_CASE("feedback: the same bits on any number of threads") {
  const std::vector<float> values = normal_values(19 * 64);  // the last block has fewer rows
  const LayerInputs inputs = correlated_inputs(64, 128);
  for (const StoredFormat& format : row_formats())
    for (const FeedbackOrder order : {FeedbackOrder::columns, FeedbackOrder::largest}) {
      const StoredFormat fed = with_feedback(format, order);
      const Encoded one = encode(fed, {19, 64}, values, inputs);
      const Encoded three = encode(fed, {19, 64}, values, inputs, {}, 3);
      CHECK(three.codes == one.codes);
      CHECK(three.scales == one.scales);
      CHECK(three.zero_points == one.zero_points);
      CHECK(three.tables == one.tables);
      CHECK(three.apart == one.apart);
    }
}

TEST_CASE("feedback: rows do not depend on others") {
  const std::vector<float> values = normal_values(19 * 64);
  const LayerInputs inputs = correlated_inputs(64, 128);
  const StoredFormat fed = with_feedback(integer_format(2, kRows, kMinMax), FeedbackOrder::columns);
  const Encoded all = encode(fed, {19, 64}, values, inputs);
  for (std::size_t row = 0; row < 19; ++row) {
    const auto one = encode(fed, {1, 64}, std::span(values).subspan(row * 64, 64), inputs);
    CHECK(std::ranges::equal(one.codes, std::span(all.codes).subspan(row * 64, 64)));
    CHECK(std::ranges::equal(one.scales, std::span(all.scales).subspan(row * 2, 2)));
  }
}

TEST_CASE("feedback: codes are rounded to nearest if inputs are independent and scales are kept") {
  const std::vector<float> values = normal_values(16 * 64);
  std::vector<float> hessian(64 * 64, 0.0F);
  for (std::size_t i = 0; i < 64; ++i) hessian[i * 64 + i] = 2.0F;
  const LayerInputs inputs = inputs_of_hessian(64, hessian);
  for (const StoredFormat& format : row_formats()) {
    if (format.before.hadamard > 0) continue;
    const std::vector<float> nearest = testing::stored_values(format, {16, 64}, values);
    for (const FeedbackOrder order : {FeedbackOrder::columns, FeedbackOrder::largest}) {
      const StoredFormat fed = with_feedback(format, order);
      CHECK(decode(fed, encode(fed, {16, 64}, values, inputs)) == nearest);
    }
  }
}

TEST_CASE("feedback: equal columns share their error") {
  StoredFormat format = integer_format(4, {Along::row, 0}, {.rule = RangeRule::given, .value = 7});
  format.feedback = {.order = FeedbackOrder::columns, .damping = 1e-9};
  const LayerInputs inputs = inputs_of_hessian(2, std::vector{1.0F, 1.0F, 1.0F, 1.0F});
  const Encoded encoded = encode(format, {1, 2}, std::vector{1.25F, 1.375F}, inputs);
  CHECK(encoded.codes == std::vector<std::int16_t>{1, 2});  // 1.375 + 0.25 is nearer to 2
}

TEST_CASE("feedback: columns without inputs become 0") {
  StoredFormat format = integer_format(4, {Along::row, 0}, {.rule = RangeRule::given, .value = 7});
  format.feedback.order = FeedbackOrder::columns;
  const LayerInputs inputs = inputs_of_hessian(2, std::vector{0.0F, 0.0F, 0.0F, 1.0F});
  CHECK(encode(format, {1, 2}, std::vector{5.0F, 3.0F}, inputs).codes ==
        std::vector<std::int16_t>{0, 3});
}

TEST_CASE("feedback: groups across rows, other inputs and singular Hessians are refused") {
  StoredFormat format = integer_format(4, {Along::column, 0});
  format.feedback.order = FeedbackOrder::columns;
  const std::vector<float> values = {1.0F, 2.0F};
  const LayerInputs inputs = inputs_of_hessian(2, std::vector{1.0F, 1.0F, 1.0F, 1.0F});
  CHECK_THROWS_WITH(encode(format, {1, 2}, values, inputs), ContainsSubstring("within rows"));
  CHECK_THROWS_WITH(encode(format, {1, 2}, values), ContainsSubstring("inputs of the layer"));
  format.groups = {Along::row, 0};
  CHECK_THROWS_WITH(encode(format, {2, 1}, values, inputs), ContainsSubstring("2 columns"));
  format.feedback.damping = 0.0;
  CHECK_THROWS_WITH(encode(format, {1, 2}, values, inputs), ContainsSubstring("raise"));
}

}  // namespace
}  // namespace equarx::stored::feedback_test
