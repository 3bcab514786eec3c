#include "models/steps/scaling.hpp"

#include <stdexcept>

#include "tests/catch.hpp"

namespace equarx::steps::scaling_test {
namespace {

using hardware::MatrixType;

TEST_CASE("schemes of training are valid, with the elements and unit of their type") {
  for (const MatrixType type : {MatrixType::int8, MatrixType::fp8, MatrixType::fp4})
    for (const Scaling scaling : {Scaling::delayed, Scaling::current, Scaling::rows,
                                  Scaling::blocks, Scaling::mx, Scaling::nv}) {
      if (!can_scale(type, scaling)) continue;
      gemm::Scheme scheme = scheme_of(type, scaling);
      if (type == MatrixType::int8) scheme.accumulate = gemm::Accumulator::int32;
      CHECK_NOTHROW(gemm::check(scheme));
      CHECK_NOTHROW(stored::check(scheme.weights.value()));
      CHECK_NOTHROW(stored::check(scheme.activations.value()));
      CHECK(scheme.weights->elements.bits == (type == MatrixType::fp4 ? 4 : 8));
    }
  CHECK_THROWS_AS(scheme_of(MatrixType::bf16, Scaling::delayed), std::invalid_argument);
}

TEST_CASE("casts with a scale of the tensor or of square blocks serve both axes") {
  const auto serves = [](Scaling scaling, bool weights) {
    const gemm::Scheme scheme = scheme_of(MatrixType::fp8, scaling);
    return serves_both_axes((weights ? scheme.weights : scheme.activations).value());
  };
  CHECK(serves(Scaling::delayed, false));
  CHECK(serves(Scaling::current, false));
  CHECK(serves(Scaling::blocks, true));
  CHECK_FALSE(serves(Scaling::blocks, false));
  CHECK_FALSE(serves(Scaling::rows, true));
  CHECK_FALSE(serves(Scaling::mx, true));
}

TEST_CASE("bytes have the share of the scales") {
  const auto bytes = [](MatrixType type, Scaling scaling) {
    return bytes_per_element(scheme_of(type, scaling).weights.value());
  };
  CHECK(bytes(MatrixType::fp8, Scaling::delayed) == 1.0);
  CHECK(bytes(MatrixType::int8, Scaling::rows) == 1.0);
  CHECK(bytes(MatrixType::fp8, Scaling::blocks) == 1.0 + 4.0 / (128 * 128));
  CHECK(bytes(MatrixType::fp4, Scaling::mx) == 0.5 + 1.0 / 32);
  CHECK(bytes(MatrixType::fp4, Scaling::nv) == 0.5 + 1.0 / 16);
}

}  // namespace
}  // namespace equarx::steps::scaling_test
