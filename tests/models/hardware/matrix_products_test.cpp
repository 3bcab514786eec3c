#include "models/hardware/matrix_products.hpp"

#include "tests/catch.hpp"

namespace equarx::hardware::matrix_products_test {
namespace {

TEST_CASE("the share is interpolated between sizes") {
  const MatrixProducts products{{{1e9, 0.2}, {1e11, 0.6}, {1e12, 1.0}}, {}, {}};
  CHECK(matrix_share(products, 1e9) == 0.2);
  CHECK(matrix_share(products, 1e10) == Approx(0.4));  // midpoint on a logarithmic scale
  CHECK(matrix_share(products, 1e11) == Approx(0.6));
  CHECK(matrix_share(products, 1e12) == 1.0);
}

TEST_CASE("the share is constant beyond the measured sizes") {
  const MatrixProducts products{{{1e9, 0.2}, {1e12, 1.0}}, {}, {}};
  CHECK(matrix_share(products, 1.0) == 0.2);
  CHECK(matrix_share(products, 1e15) == 1.0);
}

TEST_CASE("without points the share is 1 for all sizes") { CHECK(matrix_share({}, 1e9) == 1.0); }

}  // namespace
}  // namespace equarx::hardware::matrix_products_test
