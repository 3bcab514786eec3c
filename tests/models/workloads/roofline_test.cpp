#include "models/workloads/roofline.hpp"

#include "tests/catch.hpp"
#include "tests/models/workloads/models.hpp"

namespace equarx::workloads::roofline_test {
namespace {

/// Round numbers for manual calculations.
constexpr ComputeRates kRates{.matrix_flops_per_s = {100e12},
                              .matrix_efficiency = 0.5,
                              .vector_ops_per_s = 1e12,
                              .hbm_bytes_per_s = 1e12,
                              .operation_overhead_s = 1e-6};

/// An operation that takes 10 us on each resource.
Operation balanced() {
  Operation operation{.name = "x", .kind = OperationKind::matrix};
  operation.flops = 500e6;
  operation.vector_ops = 10e6;
  operation.weight_bytes = 2e6;
  operation.read_bytes = 3e6;
  operation.written_bytes = 5e6;
  return operation;
}

TEST_CASE("a small GEMM is less efficient") {
  const hardware::MatrixProducts products{{{500e6, 0.25}, {500e9, 1.0}}, {}, {}};
  ComputeRates rates = kRates;
  rates.matrix_products = &products;
  CHECK(roofline(balanced(), rates).seconds == Approx(41e-6));
  CHECK(roofline(balanced(), rates).roof == Roof::matrix);
  Operation large = balanced();
  large.flops *= 1000.0;
  CHECK(roofline(large, rates).seconds == Approx(roofline(large, kRates).seconds));
}

TEST_CASE("the slowest unit determines the time and the roof") {
  CHECK(roofline(balanced(), kRates).seconds == Approx(11e-6).epsilon(1e-12));
  Operation matrix = balanced();
  matrix.flops *= 2.0;
  CHECK(roofline(matrix, kRates).seconds == Approx(21e-6).epsilon(1e-12));
  CHECK(roofline(matrix, kRates).roof == Roof::matrix);
  Operation vector = balanced();
  vector.vector_ops *= 3.0;
  CHECK(roofline(vector, kRates).seconds == Approx(31e-6).epsilon(1e-12));
  CHECK(roofline(vector, kRates).roof == Roof::vector);
  for (double Operation::*bytes :
       {&Operation::weight_bytes, &Operation::read_bytes, &Operation::written_bytes}) {
    Operation memory = balanced();
    memory.*bytes += 10e6;
    CHECK(roofline(memory, kRates).seconds == Approx(21e-6).epsilon(1e-12));
    CHECK(roofline(memory, kRates).roof == Roof::hbm);
  }
}

TEST_CASE("repetitions multiply time and overhead") {
  Operation often = balanced();
  often.times = 7;
  CHECK(roofline(often, kRates).seconds == Approx(7 * 11e-6).epsilon(1e-12));
}

TEST_CASE("nothing to do costs the overhead") { CHECK(roofline({}, kRates).seconds == 1e-6); }

TEST_CASE("efficiency slows the matrix unit alone") {
  ComputeRates slow = kRates;
  slow.matrix_efficiency = 0.25;
  CHECK(roofline(balanced(), slow).seconds == Approx(21e-6).epsilon(1e-12));
  Operation memory = balanced();
  memory.flops = 0.0;
  CHECK(roofline(memory, slow).seconds == roofline(memory, kRates).seconds);
}

TEST_CASE("an AllReduce has no roofline") {
  Operation sum{.name = "sum", .kind = OperationKind::allreduce};
  CHECK_THROWS_AS(roofline(sum, kRates), std::logic_error);
}

TEST_CASE("GEMMs are compute bound in prefill and HBM bound in decoding") {
  // TPU v5e: 197 TFLOP/s, 819 GB/s; it takes 240 rows to balance the two.
  const ComputeRates v5e{
      .matrix_flops_per_s = {197e12}, .vector_ops_per_s = 6.144e12, .hbm_bytes_per_s = 819e9};
  const Transformer model = testing::gemma3_27b();
  const PhaseOperations prefill = phase_operations(model, Prefill{4096, 1}, 16, {});
  const PhaseOperations decode = phase_operations(model, Decode{4096, 1}, 16, {});
  for (const std::string_view name : {"qkv", "ffn_in", "ffn_out"}) {
    CHECK(roofline(testing::find(prefill.global_layer, name), v5e).roof == Roof::matrix);
    CHECK(roofline(testing::find(decode.global_layer, name), v5e).roof == Roof::hbm);
  }
  // 256 inputs per chip: writing 5376 results takes longer than computing them.
  CHECK(roofline(testing::find(prefill.global_layer, "attention_output"), v5e).roof == Roof::hbm);
  CHECK(roofline(testing::find(prefill.global_layer, "softmax"), v5e).roof == Roof::hbm);
  CHECK(roofline(testing::find(prefill.head, "logits"), v5e).roof == Roof::hbm);
}

TEST_CASE("element-wise work is HBM bound, even with half the vector rate") {
  const ComputeRates v5e{
      .matrix_flops_per_s = {197e12}, .vector_ops_per_s = 6.144e12 / 2.0, .hbm_bytes_per_s = 819e9};
  const PhaseOperations phase = phase_operations(testing::gemma3_27b(), Prefill{4096, 1}, 16, {});
  std::size_t count = 0;
  for (const Operation& operation : phase.global_layer)
    if (operation.kind == OperationKind::vector || operation.name == "softmax") {
      CAPTURE(operation.name);
      CHECK(roofline(operation, v5e).roof == Roof::hbm);
      ++count;
    }
  CHECK(count == 5);
}

TEST_CASE("roofs have names") {
  CHECK(name(Roof::matrix) == "matrix");
  CHECK(name(Roof::vector) == "vector");
  CHECK(name(Roof::hbm) == "hbm");
}

}  // namespace
}  // namespace equarx::workloads::roofline_test
