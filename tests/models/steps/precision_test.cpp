#include "models/steps/precision.hpp"

#include <set>
#include <string_view>

#include "tests/catch.hpp"

namespace equarx::steps {
namespace {

using hardware::MatrixType;

TEST_CASE("recipes have names of their own, and sources but for plain bf16") {
  std::set<std::string_view> names;
  for (const Precision& precision : precisions()) {
    CHECK(names.insert(precision.name).second);
    CHECK(precision.source.empty() == (precision.name == "bf16"));
    CHECK(precision.head == MatrixType::bf16);
  }
  CHECK(names.size() == 4);
}

TEST_CASE("only FOG multiplies scores and values in FP8") {
  for (const Precision& precision : precisions())
    CHECK((precision.attention == MatrixType::fp8) == (precision.name == "fog"));
}

}  // namespace
}  // namespace equarx::steps
