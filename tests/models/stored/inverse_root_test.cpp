#include "models/stored/inverse_root.hpp"

#include <algorithm>
#include <stdexcept>

#include "tests/catch.hpp"
#include "tests/models/stored/formats.hpp"

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

TEST_CASE("inverse root: of a matrix of several blocks, on any number of threads") {
  constexpr std::size_t kSize = 75;
  const std::vector<double> matrix = testing::correlated_inputs(kSize, 300).hessian;
  const std::vector<double> root = inverse_root(kSize, matrix);
  CHECK(inverse_root(kSize, matrix, 3) == root);
  for (std::size_t i = 0; i < kSize; ++i)
    for (std::size_t j = 0; j < kSize; ++j) {
      if (j < i) CHECK(root[i * kSize + j] == 0.0);
      double sum = 0.0;
      for (std::size_t k = 0; k < kSize; ++k)
        for (std::size_t m = 0; m <= std::min(i, k); ++m)
          sum += root[m * kSize + i] * root[m * kSize + k] * matrix[k * kSize + j];
      CHECK(sum == Approx(i == j ? 1.0 : 0.0).margin(1e-9));
    }
}

TEST_CASE("inverse root: matrices without one are refused") {
  CHECK_THROWS_AS(inverse_root(2, std::vector<double>{1, 2, 2, 1}), std::invalid_argument);
  CHECK_THROWS_AS(inverse_root(1, std::vector<double>{0}), std::invalid_argument);
}

}  // namespace
}  // namespace equarx::stored::inverse_root_test
