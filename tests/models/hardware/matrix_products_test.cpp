#include "models/hardware/matrix_products.hpp"

#include "tests/catch.hpp"

namespace equarx::hardware::matrix_products_test {
namespace {

TEST_CASE("products between two sizes reach a share between theirs") {
  const MatrixProducts products{{{1e9, 0.2}, {1e11, 0.6}, {1e12, 1.0}}, {}, {}};
  CHECK(matrix_share(products, 1e9) == 0.2);
  CHECK(matrix_share(products, 1e10) == Approx(0.4));  // half-way on a logarithmic scale
  CHECK(matrix_share(products, 1e11) == Approx(0.6));
  CHECK(matrix_share(products, 1e12) == 1.0);
}

TEST_CASE("beyond the measured sizes the nearest one counts") {
  const MatrixProducts products{{{1e9, 0.2}, {1e12, 1.0}}, {}, {}};
  CHECK(matrix_share(products, 1.0) == 0.2);
  CHECK(matrix_share(products, 1e15) == 1.0);
}

TEST_CASE("without points all sizes are alike") { CHECK(matrix_share({}, 1e9) == 1.0); }

}  // namespace
}  // namespace equarx::hardware::matrix_products_test
