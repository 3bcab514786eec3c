#include "models/stored/rotation.hpp"

#include <stdexcept>

#include "tests/catch.hpp"

namespace equarx::stored::rotation_test {
namespace {

TEST_CASE("rotation: Hadamard blocks and column factors have an exact inverse for powers of two") {
  const std::vector<float> values = {1, 2, 3, 4, 5, 6, 7, 8};
  const Before before{.hadamard = 4, .column_factors = {1, 2, 4, 8}};
  std::vector<float> turned = values;
  transform(before, {2, 4}, turned);
  CHECK(turned[0] == (1.0F + 4 + 12 + 32) / 2);
  CHECK(turned[1] == (1.0F - 4 + 12 - 32) / 2);
  CHECK(turned[7] == (5.0F - 12 - 28 + 64) / 2);
  transform_back(before, {2, 4}, turned);
  CHECK(turned == values);
}

TEST_CASE("rotation: blocks and factors that do not fit are refused") {
  std::vector<float> values(6);
  CHECK_THROWS_AS(transform({.hadamard = 4}, {1, 6}, values), std::invalid_argument);
  CHECK_THROWS_AS(transform({.column_factors = {1, 2}}, {1, 6}, values), std::invalid_argument);
}

}  // namespace
}  // namespace equarx::stored::rotation_test
