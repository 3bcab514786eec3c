#include "experiments/inspect/product.hpp"

#include "base/input/json.hpp"
#include "tests/catch.hpp"
#include "tests/support/errors.hpp"
#include "tests/support/tensor_files.hpp"

namespace equarx::inspect::product_test {
namespace {

using equarx::testing::npy_file;
using equarx::testing::TemporaryDirectory;

TEST_CASE("product report: error against FP64, bits and the written product agree") {
  const TemporaryDirectory directory;
  const auto x = npy_file(directory.path() / "x.npy", {1, 2, 3, 4}, {2, 1, 2});
  const auto w = npy_file(directory.path() / "w.npy", {7, 3.25, -7, 0, 1, 7}, {3, 2});
  gemm::Scheme scheme;
  scheme.weights.emplace();  // int4 of one group: 3.25 becomes 3
  scheme.unit = gemm::Unit::fp32;
  const auto output = directory.path() / "y.npy";
  const ProductReport report = multiply({.x = x, .w = w, .output = output}, scheme);
  const auto written = tensors::TensorFile::open(output);
  CHECK(std::ranges::equal(written.shape(), std::vector<std::uint64_t>{2, 1, 3}));
  CHECK(equarx::testing::read_all(written) == std::vector<float>{13, -7, 15, 33, -21, 31});
  CHECK(report.error.mse == (0.5 * 0.5 + 1.0 * 1.0) / 6);
  CHECK(report.weight_bits == (6 * 4 + 32) / 6.0);
  CHECK(report.activation_bits == 0.0);
  CHECK(to_json(report).at("outputs") == 3);
  CHECK_THAT(to_table(report), ContainsSubstring("2 x 2 x 3"));
}

TEST_CASE("product report: importance is for weights that depend on it") {
  const TemporaryDirectory directory;
  const auto x = npy_file(directory.path() / "x.npy", {1, 2}, {1, 2});
  equarx::testing::check_refused(
      [&] {
        multiply(
            {.x = x, .w = x, .importance = tensors::TensorFile::open(directory.path() / "x.npy")},
            {});
      },
      "/importance", "remove it");
}

}  // namespace
}  // namespace equarx::inspect::product_test
