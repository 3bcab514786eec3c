#include "models/stored/inverse_root.hpp"

#include <stdexcept>

#include "tests/catch.hpp"

namespace equarx::stored::inverse_root_test {
namespace {

TEST_CASE("inverse root: U^T U times the matrix is the identity, and U is upper") {
  const std::vector<double> matrix = {4, 2, 1, 2, 5, 3, 1, 3, 6};
  const std::vector<double> root = inverse_root(3, matrix);
  CHECK(root[3] == 0.0);
  CHECK(root[6] == 0.0);
  CHECK(root[7] == 0.0);
  for (std::size_t i = 0; i < 3; ++i)
    for (std::size_t j = 0; j < 3; ++j) {
      double sum = 0.0;
      for (std::size_t k = 0; k < 3; ++k)
        for (std::size_t m = 0; m < 3; ++m)
          sum += root[m * 3 + i] * root[m * 3 + k] * matrix[k * 3 + j];
      CHECK(sum == Approx(i == j ? 1.0 : 0.0).margin(1e-14));
    }
}

TEST_CASE("inverse root: matrices without one are refused") {
  CHECK_THROWS_AS(inverse_root(2, std::vector<double>{1, 2, 2, 1}), std::invalid_argument);
  CHECK_THROWS_AS(inverse_root(1, std::vector<double>{0}), std::invalid_argument);
}

}  // namespace
}  // namespace equarx::stored::inverse_root_test
