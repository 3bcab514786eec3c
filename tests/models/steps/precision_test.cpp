#include "models/steps/precision.hpp"

#include <set>
#include <stdexcept>
#include <string_view>

#include "tests/catch.hpp"

namespace equarx::steps::precision_test {
namespace {

using hardware::MatrixType;

const Precision& recipe(std::string_view name) {
  for (const Precision& precision : precisions())
    if (precision.name == name) return precision;
  throw std::logic_error("no such recipe");
}

TEST_CASE("recipes have unique names and, except for bf16, sources") {
  std::set<std::string_view> names;
  for (const Precision& precision : precisions()) {
    CHECK(names.insert(precision.name).second);
    CHECK(precision.source.empty() == (precision.name == "bf16"));
    CHECK(precision.head == ProductTypes{});
  }
  CHECK(names.size() == 7);
}

TEST_CASE("only FOG multiplies scores and values in FP8") {
  for (const Precision& precision : precisions())
    CHECK((precision.attention.forward == MatrixType::fp8) == (precision.name == "fog"));
}

TEST_CASE("recipes have the scales and backward products of their sources") {
  CHECK(recipe("transformer-engine").ffn.scaling == Scaling::delayed);
  CHECK(recipe("deepseek-v3").ffn.scaling == Scaling::blocks);
  CHECK(recipe("aqt-int8").projections == all_of(MatrixType::int8));
  CHECK(recipe("switchback").projections.input_gradient == MatrixType::int8);
  CHECK(recipe("switchback").projections.weight_gradient == MatrixType::bf16);
}

TEST_CASE("each scaled type supports its default scaling, FP4 only scaling by the matrix unit") {
  for (const MatrixType type : hardware::kNumberTypes)
    CHECK(can_scale(type, usual_scaling(type)) == is_scaled(type));
  for (const Scaling scaling : {Scaling::delayed, Scaling::current, Scaling::rows, Scaling::blocks})
    CHECK_FALSE(can_scale(MatrixType::fp4, scaling));
  CHECK(can_scale(MatrixType::fp4, Scaling::nv));
  CHECK_FALSE(can_scale(MatrixType::fp8, Scaling::nv));
  CHECK(can_scale(MatrixType::fp8, Scaling::mx));
  CHECK_FALSE(is_scaled(MatrixType::fp32));
}

}  // namespace
}  // namespace equarx::steps::precision_test
