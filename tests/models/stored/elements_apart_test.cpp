#include "models/stored/elements_apart.hpp"

#include <cmath>
#include <stdexcept>

#include "models/stored/finite.hpp"
#include "tests/catch.hpp"

namespace equarx::stored::elements_apart_test {
namespace {

TEST_CASE("elements apart: the first of equal magnitudes, then the most important others") {
  StoredFormat format;
  format.apart = {.largest = 0.25, .important = 0.25};
  const std::vector<float> values = {1.0F, -3.0F, 3.0F, 0.0F};
  const std::vector<float> importance = {1.0F, 9.0F, 1.0F, 2.0F};
  CHECK(apart_of(format, {1, 4}, values, importance) ==
        std::vector<bool>{false, true, false, true});
}

TEST_CASE("elements apart: tensors that are not finite or of another size are refused") {
  const StoredFormat format;
  CHECK_NOTHROW(check_tensor(format, {1, 2}, std::vector{1.0F, 2.0F}, {}));
  CHECK_THROWS_AS(check_tensor(format, {2, 2}, std::vector{1.0F, 2.0F}, {}), std::invalid_argument);
  CHECK_THROWS_WITH(check_finite(std::vector{1.0F, NAN}, "input"),
                    ContainsSubstring("input 1 is NaN or Inf"));
}

}  // namespace
}  // namespace equarx::stored::elements_apart_test
