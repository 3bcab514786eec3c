#include "importers/hlo/products.hpp"

#include "tests/catch.hpp"
#include "tests/importers/hlo/modules.hpp"

namespace equarx::hlo::products_test {
namespace {

using hardware::MatrixType;

std::optional<Product> product(const std::string& left, const std::string& right,
                               const std::string& result, const std::string& rest) {
  const Module module = testing::hlo_module("  %l = " + left + " parameter(0)\n  %r = " + right +
                                            " parameter(1)\n  %d = " + result + " " + rest + "\n");
  return product_of(testing::instruction_of(module, "d"), testing::entry_of(module));
}

double flops(const std::string& left, const std::string& right, const std::string& result,
             const std::string& rest) {
  return product(left, right, result, rest).value().flops;
}

TEST_CASE("a dot has two FLOPs per element and contracted index") {
  CHECK(flops("bf16[8,16]", "bf16[16,4]", "bf16[8,4]",
              "dot(%l, %r), lhs_contracting_dims={1}, rhs_contracting_dims={0}") ==
        2.0 * 8 * 4 * 16);
  CHECK(flops("f32[3,8,16]", "f32[3,16,4]", "f32[3,8,4]",
              "dot(%l, %r), lhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_batch_dims={0}, "
              "rhs_contracting_dims={1}") == 2.0 * 3 * 8 * 4 * 16);
  CHECK(flops("c64[8,16]", "c64[16]", "c64[8]", "dot(%l, %r), lhs_contracting_dims={1}") ==
        8.0 * 8 * 16);
}

TEST_CASE("convolutions of cuDNN take one product per output and kernel element") {
  const auto call = [](const std::string& pass) {
    return "custom-call(%l, %r), window={size=3x3 pad=1_1x1_1}, dim_labels=b01f_o01i->b01f, "
           "custom_call_target=\"__cudnn$conv" +
           pass + "\"";
  };
  const std::string input = "bf16[2,8,8,16]";
  const std::string kernel = "bf16[32,3,3,16]";
  const std::string output = "bf16[2,8,8,32]";
  const double expected = 2.0 * (2 * 8 * 8 * 32) * (3 * 3 * 16);
  const std::string workspace = ", u8[131]{0})";
  CHECK(flops(input, kernel, "(" + output + workspace, call("Forward")) == expected);
  CHECK(flops(output, kernel, "(" + input + workspace, call("BackwardInput")) == expected);
  CHECK(flops(input, output, "(" + kernel + workspace, call("BackwardFilter")) == expected);
  CHECK(product(input, kernel, output, call("Forward"))->kernel == workloads::Kernel::convolution);
  CHECK(!product(input, "bf16[3,3]", output, call("Forward")));
}

TEST_CASE("fused attention of cuDNN has two products per score, and five backward") {
  const auto call = [](const std::string& pass, const std::string& mask) {
    return "custom-call(%l, %r), custom_call_target=\"__cudnn$fmhaSoftmax" + pass +
           "\", backend_config={\"cudnn_fmha_backend_config\":{\"intermediate_tensor_shape\":"
           "{\"dimensions\":[\"2\",\"16\",\"64\",\"128\"]},\"mask_type\":\"" +
           mask + "\"}}";
  };
  const std::string queries = "bf16[2,64,16,32]";
  const std::string keys = "bf16[2,128,16,32]";
  const std::string result = "(bf16[2,16,64,32], u8[0])";
  const double scores = 2.0 * 16 * 64 * 128;
  CHECK(flops(queries, keys, result, call("", "NO_MASK")) == 2 * 2 * scores * 32);
  CHECK(flops(queries, keys, result, call("", "CAUSAL")) == 2 * 2 * scores / 2 * 32);
  CHECK(flops(queries, keys, result, call("Backward", "NO_MASK")) == 2 * 5 * scores * 32);
  const Product backward = product(queries, keys, result, call("Backward", "CAUSAL")).value();
  CHECK(backward.kernel == workloads::Kernel::attention_backward);
  CHECK(backward.attention_rows == 2.5 * 2 * 16 * 64);
  CHECK(
      !product(queries, keys, result, "custom-call(%l, %r), custom_call_target=\"__cudnn$fmhaX\""));
}

TEST_CASE("types and precisions of products") {
  const std::string dot = "dot(%l, %r), lhs_contracting_dims={1}";
  CHECK(product("s8[2,2]", "s8[2,2]", "s32[2,2]", dot)->type == MatrixType::int8);
  CHECK(product("f8e4m3fn[2,2]", "f8e5m2[2,2]", "f32[2,2]", dot)->type == MatrixType::fp8);
  CHECK(product("s8[2,2]", "bf16[2,2]", "f32[2,2]", dot)->type == MatrixType::bf16);
  CHECK(product("f32[2,2]", "f32[2,2]", "f32[2,2]", dot)->passes == 1.0);
  CHECK(product("f32[2,2]", "f32[2,2]", "f32[2,2]", dot + ", operand_precision={high,high}")
            ->passes == 3.0);
  CHECK(product("f32[2,2]", "f32[2,2]", "f32[2,2]", dot + ", operand_precision={highest,highest}")
            ->passes == 6.0);
  CHECK(product("bf16[2,2]", "bf16[2,2]", "f32[2,2]", dot + ", operand_precision={highest,highest}")
            ->passes == 1.0);
}

TEST_CASE("a convolution multiplies the elements under its window") {
  // A GEMM, as XLA writes it for TPUs.
  CHECK(flops("bf16[8,16]", "bf16[16,4]", "bf16[8,4]",
              "convolution(%l, %r), dim_labels=bf_io->bf") == 2.0 * 8 * 4 * 16);
  // 3 x 3 without padding: 9 elements at each of 4 x 4 positions.
  CHECK(flops("f32[1,6,6,2]", "f32[3,3,2,5]", "f32[1,4,4,5]",
              "convolution(%l, %r), window={size=3x3}, dim_labels=b01f_01io->b01f") ==
        2.0 * 5 * 2 * 16 * 9);
  // With padding of 1: 3 * 4 - 2 elements along 4 positions.
  CHECK(flops("f32[1,4,4,2]", "f32[3,3,2,5]", "f32[1,4,4,5]",
              "convolution(%l, %r), window={size=3x3 pad=1_1x1_1}, dim_labels=b01f_01io->b01f") ==
        2.0 * 5 * 2 * 10 * 10);
  // Stride 2, padding 0_1 of 4: windows at 0 and 2, of 3 and 2 elements.
  CHECK(flops("f32[1,4,2]", "f32[3,2,5]", "f32[1,2,5]",
              "convolution(%l, %r), window={size=3 stride=2 pad=0_1}, dim_labels=b0f_0io->b0f") ==
        2.0 * 5 * 2 * (3 + 2));
  // Dilated base: elements at 0, 2, 4, 6; a window of 3 at 5 positions.
  CHECK(flops("f32[1,4,2]", "f32[3,2,5]", "f32[1,5,5]",
              "convolution(%l, %r), window={size=3 lhs_dilate=2}, dim_labels=b0f_0io->b0f") ==
        2.0 * 5 * 2 * (2 + 1 + 2 + 1 + 2));
  // Negative padding crops the base: elements 1..3 of 4.
  CHECK(flops("f32[1,4,2]", "f32[1,2,5]", "f32[1,3,5]",
              "convolution(%l, %r), window={size=1 pad=-1_0}, dim_labels=b0f_0io->b0f") ==
        2.0 * 5 * 2 * 3);
}

TEST_CASE("a batched GEMM of a TPU is a convolution over its batch") {
  // One window element matches at each position.
  CHECK(flops("bf16[32,128,64]", "bf16[32,64,16]", "bf16[32,128,16]",
              "convolution(%l, %r), window={size=32 stride=31 pad=0_0 lhs_dilate=32}, "
              "dim_labels=0bf_0io->0bf") == 2.0 * 32 * 128 * 64 * 16);
}

TEST_CASE("feature groups follow from the kernel shape") {
  CHECK(
      flops(
          "f32[1,4,8]", "f32[1,2,8]", "f32[1,4,8]",
          "convolution(%l, %r), window={size=1}, dim_labels=b0f_0io->b0f, feature_group_count=4") ==
      2.0 * 4 * 8 * 2);
}

TEST_CASE("cuBLAS GEMMs have their dimensions in the configuration") {
  CHECK(flops("bf16[8,16]", "bf16[16,4]", "(bf16[8,4], s8[1024])",
              "custom-call(%l, %r), custom_call_target=\"__cublas$lt$matmul\", "
              "backend_config={\"gemm_backend_config\":{\"dot_dimension_numbers\":{"
              "\"lhs_contracting_dimensions\":[\"1\"]}}}") == 2.0 * 8 * 4 * 16);
}

TEST_CASE("grouped GEMMs multiply each row by one matrix") {
  const std::string rows = "bf16[64,16]";
  const std::string matrices = "bf16[4,16,32]";
  const double each = 2.0 * 64 * 16 * 32;
  const auto call = [](const std::string& target) {
    return "custom-call(%l, %r), custom_call_target=\"" + target + "\"";
  };
  CHECK(flops(rows, matrices, "bf16[64,32]", call("__cublas$lt$groupedMatmul")) == each);
  CHECK(flops(rows, matrices, "bf16[64,32]", call("te_grouped_gemm_ffi")) == each);
  CHECK(flops(rows, "bf16[64,32]", "bf16[4,16,32]", call("ragged_dot")) == each);
  CHECK_FALSE(product(rows, "bf16[16,32]", "bf16[64,32]", call("te_grouped_gemm_ffi")));
  // A Pallas kernel has the name of its instruction.
  const Module module = testing::hlo_module(
      "  %s = s32[4] parameter(0)\n  %l = bf16[64,16] parameter(1)\n  %r = bf16[4,16,32] "
      "parameter(2)\n  %gmm.1 = bf16[64,32] custom-call(%s, %l, %r), "
      "custom_call_target=\"tpu_custom_call\"\n");
  CHECK(product_of(testing::instruction_of(module, "gmm.1"), testing::entry_of(module))->flops ==
        each);
}

TEST_CASE("a ragged-dot counts every row once, also for the gradient of its matrices") {
  CHECK(flops("bf16[64,16]", "bf16[4,16,32]", "bf16[64,32]",
              "ragged-dot(%l, %r), lhs_contracting_dims={1}, rhs_contracting_dims={1}, "
              "lhs_ragged_dims={0}, rhs_group_dims={0}") == 2.0 * 64 * 16 * 32);
  CHECK(flops("bf16[64,16]", "bf16[64,32]", "bf16[4,16,32]",
              "ragged-dot(%l, %r), lhs_contracting_dims={0}, rhs_contracting_dims={0}, "
              "lhs_ragged_dims={0}") == 2.0 * 64 * 16 * 32);
}

TEST_CASE("other instructions and mismatched dimensions are not products") {
  CHECK_FALSE(product("f32[2]", "f32[2]", "f32[2]", "add(%l, %r)"));
  CHECK_FALSE(product("f32[2]", "f32[2]", "f32[2]", "dot(%l, %r), lhs_contracting_dims={5}"));
  CHECK_FALSE(product("f32[2]", "f32[2]", "f32[2]", "dot(%l, %gone), lhs_contracting_dims={0}"));
  CHECK_FALSE(product("f32[2]", "f32[2]", "f32[2]", "convolution(%l, %r), dim_labels=bf_io->bf"));
  CHECK_FALSE(
      product("f32[2]", "f32[2]", "f32[2]", "custom-call(%l, %r), custom_call_target=\"x\""));
}

}  // namespace
}  // namespace equarx::hlo::products_test
