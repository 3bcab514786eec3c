#include "models/steps/products.hpp"

#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "tests/catch.hpp"

namespace equarx::steps::products_test {
namespace {

using hardware::MatrixType;
using workloads::Operation;
using workloads::OperationKind;

// A GEMM of 1024 rows with a 512 x 256 matrix.
constexpr double kRows = 1024;
constexpr double kIn = 512;
constexpr double kOut = 256;
constexpr double kInputs = kRows * kIn;
constexpr double kWeights = kIn * kOut;
constexpr double kResults = kRows * kOut;

Operation product() {
  Operation operation{.name = "ffn_in", .kind = OperationKind::matrix};
  operation.flops = 2.0 * kRows * kWeights;
  operation.weight_bytes = 2.0 * kWeights;
  operation.read_bytes = 2.0 * kInputs;
  operation.written_bytes = 2.0 * kResults;
  return operation;
}

Products products(const ProductTypes& types, double copies = 1.0) {
  return {product(), types, copies};
}

Operation find(const Operations& operations, std::string_view name) {
  for (const Operation& operation : operations)
    if (operation.name == name) return operation;
  throw std::logic_error("no such operation");
}

std::vector<std::string> names(const Operations& operations) {
  std::vector<std::string> all;
  for (const Operation& operation : operations) all.emplace_back(operation.name);
  return all;
}

using Names = std::vector<std::string>;
constexpr GradientSum kNoSum{.written_bytes = 2.0};
constexpr KeptCasts kAllKept{.inputs = true, .weights = true};

ProductTypes scaled(MatrixType type, Scaling scaling) {
  ProductTypes types = all_of(type);
  types.scaling = scaling;
  return types;
}

TEST_CASE("bf16 needs no casts, and its backward pass has two GEMMs") {
  const Products plain = products({});
  const Operations forward = plain.forward(Casts::uncached);
  REQUIRE(forward.size() == 1);
  CHECK(forward.front().hbm_bytes() == product().hbm_bytes());
  CHECK(forward.front().vector_ops == 0.0);
  const Operations backward = plain.backward({}, kNoSum);
  CHECK(names(backward) == Names{"input_gradient", "weight_gradient"});
  CHECK(find(backward, "input_gradient").hbm_bytes() == 2.0 * (kResults + kWeights + kInputs));
  CHECK(find(backward, "weight_gradient").hbm_bytes() == 2.0 * (kResults + kInputs + kWeights));
}

TEST_CASE("FP32 GEMMs use the FP32 rate and write four-byte results") {
  const Products fp32 = products(all_of(MatrixType::fp32));
  const Operations forward = fp32.forward(Casts::uncached);
  REQUIRE(forward.size() == 1);
  CHECK(forward.front().products == MatrixType::fp32);
  CHECK(forward.front().written_bytes == 4.0 * kResults);
  CHECK(forward.front().read_bytes == 2.0 * kInputs);
  const Operations backward = fp32.backward({}, kNoSum);
  CHECK(find(backward, "input_gradient").read_bytes == 4.0 * kResults);
  CHECK(find(backward, "weight_gradient").read_bytes == 4.0 * kResults + 2.0 * kInputs);
}

TEST_CASE("a cast with a per-tensor scale serves both passes") {
  for (const Scaling scaling : {Scaling::delayed, Scaling::current}) {
    const Operations backward =
        products(scaled(MatrixType::fp8, scaling)).backward(kAllKept, kNoSum);
    Names expected = {"cast_gradients", "input_gradient", "weight_gradient"};
    if (scaling == Scaling::current) expected.insert(expected.begin(), "find_amax");
    CHECK(names(backward) == expected);
  }
}

TEST_CASE("row scales, and block scales except for weights, need a cast per GEMM") {
  const Names all = {"cast_gradients", "cast_gradients", "cast_weights",
                     "cast_inputs",    "input_gradient", "weight_gradient"};
  for (const Scaling scaling : {Scaling::rows, Scaling::mx}) {
    const Products fp8 = products(scaled(MatrixType::fp8, scaling));
    CHECK(names(fp8.backward(kAllKept, kNoSum)) == all);
    const KeptCasts later{.inputs = true, .weights = true, .backward_weights = true};
    CHECK(names(fp8.backward(later, kNoSum)).size() == all.size() - 1);
  }
  const Products blocks = products(scaled(MatrixType::fp8, Scaling::blocks));
  CHECK(names(blocks.backward(kAllKept, kNoSum)) == Names{"cast_gradients", "cast_gradients",
                                                          "cast_inputs", "input_gradient",
                                                          "weight_gradient"});
  CHECK(names(blocks.backward({.inputs = true}, kNoSum)) == all);
}

TEST_CASE("operand bytes include codes and scales") {
  const auto read = [](MatrixType type, Scaling scaling) {
    return find(products(scaled(type, scaling)).forward(Casts::cached), "ffn_in").read_bytes /
           kInputs;
  };
  CHECK(read(MatrixType::fp8, Scaling::delayed) == 1.0);
  CHECK(read(MatrixType::int8, Scaling::rows) == 1.0);
  CHECK(read(MatrixType::fp8, Scaling::blocks) == 1.0 + 4.0 / 128);
  CHECK(read(MatrixType::fp8, Scaling::mx) == 1.0 + 1.0 / 32);
  CHECK(read(MatrixType::fp4, Scaling::mx) == 0.5 + 1.0 / 32);
  CHECK(read(MatrixType::fp4, Scaling::nv) == 0.5 + 1.0 / 16);
  const Operations blocks =
      products(scaled(MatrixType::fp8, Scaling::blocks)).forward(Casts::uncached);
  CHECK(find(blocks, "ffn_in").weight_bytes == kWeights * (1.0 + 4.0 / (128 * 128)));
  CHECK(find(blocks, "cast_inputs").written_bytes == kInputs * (1.0 + 4.0 / 128));
}

TEST_CASE("a per-tensor amax takes a pass before the cast") {
  const Operations delayed = products(all_of(MatrixType::fp8)).forward(Casts::cached);
  const Operations current =
      products(scaled(MatrixType::fp8, Scaling::current)).forward(Casts::cached);
  CHECK(names(current) == Names{"find_amax", "cast_inputs", "ffn_in"});
  const Operation amax_pass = current.front();
  CHECK(amax_pass.read_bytes == 2.0 * kInputs);
  CHECK(amax_pass.written_bytes == 0.0);
  // Both compute it once: `current` decodes bf16 twice for it.
  CHECK(amax_pass.vector_ops + find(current, "cast_inputs").vector_ops ==
        find(delayed, "cast_inputs").vector_ops + kInputs);
  // NVFP4 has block scales within a per-tensor scale.
  const Operations nv = products(scaled(MatrixType::fp4, Scaling::nv)).forward(Casts::cached);
  const Operations mx = products(scaled(MatrixType::fp4, Scaling::mx)).forward(Casts::cached);
  CHECK(nv.size() == mx.size() + 1);
  CHECK(find(nv, "cast_inputs").vector_ops == find(mx, "cast_inputs").vector_ops);
}

TEST_CASE(
    "row scaling takes two multiplications per result, block scaling two operations per 128") {
  const Operations rows = products(all_of(MatrixType::int8)).forward(Casts::cached);
  CHECK(find(rows, "ffn_in").vector_ops == 2.0 * kResults);
  const Products blocks = products(scaled(MatrixType::fp8, Scaling::blocks));
  CHECK(find(blocks.forward(Casts::cached), "ffn_in").vector_ops == 2.0 * kResults * kIn / 128);
  const Operations backward = blocks.backward(kAllKept, kNoSum);
  CHECK(find(backward, "input_gradient").vector_ops == 2.0 * kInputs * kOut / 128);
  CHECK(find(backward, "weight_gradient").vector_ops == 2.0 * kWeights * kRows / 128);
  for (const Scaling scaling : {Scaling::delayed, Scaling::current, Scaling::mx})
    CHECK(find(products(scaled(MatrixType::fp8, scaling)).forward(Casts::cached), "ffn_in")
              .vector_ops == 0.0);
}

TEST_CASE("passes may differ in type, as in SwitchBack's weight gradients") {
  ProductTypes types = all_of(MatrixType::int8);
  types.weight_gradient = MatrixType::bf16;
  const Operations backward = products(types).backward(kAllKept, kNoSum);
  CHECK(names(backward) ==
        Names{"cast_gradients", "cast_weights", "input_gradient", "weight_gradient"});
  CHECK(find(backward, "input_gradient").products == MatrixType::int8);
  CHECK(find(backward, "input_gradient").read_bytes == kResults);
  CHECK(find(backward, "weight_gradient").products == MatrixType::bf16);
  CHECK(find(backward, "weight_gradient").read_bytes == 2.0 * (kResults + kInputs));
}

TEST_CASE("casts are written twice only if they serve another pass") {
  const auto written = [](Scaling scaling) {
    return find(products(scaled(MatrixType::fp8, scaling), 2.0).forward(Casts::cached),
                "cast_inputs")
        .written_bytes;
  };
  CHECK(written(Scaling::delayed) == 2.0 * kInputs);
  CHECK(written(Scaling::rows) == kInputs);
}

TEST_CASE("attention casts its operands once if both passes have the same type") {
  Operation fused{.name = "attention", .kind = OperationKind::attention};
  fused.flops = 1e9;
  fused.vector_ops = 11e6;
  fused.read_bytes = 6e6;
  fused.written_bytes = 2e6;
  ProductTypes types = all_of(MatrixType::fp8);
  const AttentionProducts both(fused, types);
  CHECK(names(both.forward()) == Names{"cast_inputs", "attention"});
  CHECK(names(both.backward({.inputs = true})) == Names{"cast_gradients", "attention_gradient"});
  CHECK(names(both.backward({})) == Names{"cast_gradients", "cast_inputs", "attention_gradient"});
  CHECK(find(both.backward({}), "attention_gradient").flops == 2.5e9);
  types.forward = MatrixType::bf16;
  const AttentionProducts backward_only(fused, types);
  CHECK(names(backward_only.forward()) == Names{"attention"});
  CHECK(names(backward_only.backward({.inputs = true})) ==
        Names{"cast_gradients", "cast_inputs", "attention_gradient"});
  types.scaling = Scaling::current;
  CHECK(AttentionProducts(fused, types).backward({}).size() == 5);
}

}  // namespace
}  // namespace equarx::steps::products_test
