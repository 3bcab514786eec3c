#include "models/workloads/roofline.hpp"

#include "tests/catch.hpp"
#include "tests/models/workloads/models.hpp"

namespace equarx::workloads::roofline_test {
namespace {

/// Round numbers for manual calculations.
hardware::Chip round_chip() {
  hardware::Chip chip;
  chip.matrix_rate_bf16.value = 100e12;
  chip.matrix_efficiency.value = 0.5;
  chip.vector_rate.value = 1e12;
  chip.hbm_bandwidth.value = 2e12;
  chip.hbm_efficiency.value = 0.5;
  chip.instruction_overhead.value = 1e-6;
  return chip;
}

const hardware::Chip kChip = round_chip();
const ComputeRates kRates = compute_rates(kChip);

/// A chip with the efficiencies of an ideal TPU v5e.
hardware::Chip ideal_v5e() {
  hardware::Chip chip = round_chip();
  chip.matrix_rate_bf16.value = 197e12;
  chip.matrix_efficiency.value = 1.0;
  chip.vector_rate.value = 6.144e12;
  chip.hbm_bandwidth.value = 819e9;
  chip.hbm_efficiency.value = 1.0;
  return chip;
}

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
  hardware::Chip chip = round_chip();
  chip.matrix_efficiency.value = 0.25;
  const ComputeRates slow = compute_rates(chip);
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
  const hardware::Chip chip = ideal_v5e();
  const ComputeRates v5e = compute_rates(chip);
  const Transformer model = testing::gemma3_27b();
  const PhaseOperations prefill = phase_operations(model, Prefill{4096, 1}, 16, {});
  const PhaseOperations decode = phase_operations(model, Decode{4096, 1}, 16, {});
  for (const std::string_view name : {"qkv", "ffn_in", "ffn_out"}) {
    CHECK(roofline(testing::find(prefill.layer(testing::kGlobal), name), v5e).roof == Roof::matrix);
    CHECK(roofline(testing::find(decode.layer(testing::kGlobal), name), v5e).roof == Roof::hbm);
  }
  // 256 inputs per chip: writing 5376 results takes longer than computing them.
  CHECK(roofline(testing::find(prefill.layer(testing::kGlobal), "attention_output"), v5e).roof ==
        Roof::hbm);
  CHECK(roofline(testing::find(prefill.layer(testing::kGlobal), "softmax"), v5e).roof == Roof::hbm);
  CHECK(roofline(testing::find(prefill.head, "logits"), v5e).roof == Roof::hbm);
}

TEST_CASE("element-wise work is HBM bound, even with half the vector rate") {
  hardware::Chip chip = ideal_v5e();
  chip.vector_rate.value /= 2.0;
  const ComputeRates v5e = compute_rates(chip);
  const PhaseOperations phase = phase_operations(testing::gemma3_27b(), Prefill{4096, 1}, 16, {});
  std::size_t count = 0;
  for (const Operation& operation : phase.layer(testing::kGlobal))
    if (operation.kind == OperationKind::vector || operation.name == "softmax") {
      CAPTURE(operation.name);
      CHECK(roofline(operation, v5e).roof == Roof::hbm);
      ++count;
    }
  CHECK(count == 5);
}

double seconds(const hardware::Chip& chip, const Operation& operation) {
  return roofline(operation, compute_rates(chip)).seconds;
}

TEST_CASE("GEMMs and other operations start after their own times") {
  hardware::Chip chip = round_chip();
  Operation pass = balanced();
  pass.flops = 0.0;
  chip.operation_startup.value = 3e-6;
  CHECK(seconds(chip, pass) == Approx(13e-6).epsilon(1e-12));
  CHECK(seconds(chip, balanced()) == Approx(13e-6).epsilon(1e-12));
  chip.matrix_startup.value = 5e-6;
  CHECK(seconds(chip, pass) == Approx(13e-6).epsilon(1e-12));
  CHECK(seconds(chip, balanced()) == Approx(15e-6).epsilon(1e-12));
  Operation attention = balanced();
  attention.kernel = Kernel::attention;
  CHECK(startup_s(attention, compute_rates(chip)) == 3e-6);
}

TEST_CASE("operands of GEMMs and casts with an amax have their own share of the HBM") {
  hardware::Chip chip = round_chip();
  Operation gemm = balanced();
  gemm.flops = 1.0;
  Operation cast = balanced();
  cast.flops = 0.0;
  cast.vector_ops = 0.0;
  cast.kernel = Kernel::amax;
  CHECK(seconds(chip, gemm) == Approx(11e-6).epsilon(1e-12));
  CHECK(seconds(chip, cast) == Approx(11e-6).epsilon(1e-12));
  chip.matrix_hbm_efficiency.value = 0.25;  // of the bandwidth
  chip.amax_efficiency.value = 0.2;         // of the rate of copies
  CHECK(seconds(chip, gemm) == Approx(21e-6).epsilon(1e-12));
  CHECK(seconds(chip, cast) == Approx(51e-6).epsilon(1e-12));
}

TEST_CASE("kernels and types reach their own shares of the peak") {
  struct Case {
    hardware::Parameter hardware::Chip::*share;
    Kernel kernel;
    hardware::MatrixType type;
  };
  for (const Case& one :
       {Case{&hardware::Chip::convolution_efficiency, Kernel::convolution, {}},
        Case{&hardware::Chip::attention_efficiency, Kernel::attention, {}},
        Case{&hardware::Chip::attention_backward_efficiency, Kernel::attention_backward, {}},
        Case{&hardware::Chip::matrix_efficiency_fp8, Kernel::usual, hardware::MatrixType::fp8}}) {
    hardware::Chip chip = round_chip();
    chip.matrix_rate_fp8.value = 100e12;
    Operation operation = balanced();
    operation.flops *= 10.0;
    operation.kernel = one.kernel;
    operation.products = one.type;
    CHECK(seconds(chip, operation) == Approx(101e-6).epsilon(1e-12));
    (chip.*one.share).value = 0.1;
    CHECK(seconds(chip, operation) == Approx(501e-6).epsilon(1e-12));
    Operation other = balanced();
    other.flops *= 10.0;
    CHECK(seconds(chip, other) == Approx(101e-6).epsilon(1e-12));
  }
}

TEST_CASE("attention takes a time per query row in addition to its products") {
  hardware::Chip chip = round_chip();
  chip.attention_row_time.value = 1e-9;
  Operation attention = balanced();
  attention.kernel = Kernel::attention;
  attention.attention_rows = 4000.0;
  CHECK(seconds(chip, attention) == Approx(15e-6).epsilon(1e-12));
}

TEST_CASE("decoding weights is hidden, or has a rate of weights and a share of the peak") {
  hardware::Chip chip = round_chip();
  Operation gemm = balanced();
  gemm.decoded_weights = 2e6;
  CHECK(seconds(chip, gemm) == seconds(chip, balanced()));
  chip.decode_rate.value = 1e11;
  CHECK(seconds(chip, gemm) == Approx(21e-6).epsilon(1e-12));
  chip.decode_rate.value = 1e12;
  CHECK(seconds(chip, gemm) == Approx(11e-6).epsilon(1e-12));
  chip.decoded_efficiency.value = 0.05;
  CHECK(seconds(chip, gemm) == Approx(101e-6).epsilon(1e-12));
}

TEST_CASE("sorts take comparisons of the vector unit, or their own rate") {
  hardware::Chip chip = round_chip();
  const Operation sort{.name = "sort", .kind = OperationKind::vector, .comparisons = 20e6};
  CHECK(seconds(chip, sort) == Approx(21e-6).epsilon(1e-12));
  chip.sort_rate.value = 1e11;
  CHECK(seconds(chip, sort) == Approx(201e-6).epsilon(1e-12));
}

TEST_CASE("the overhead of training steps does not depend on the type of operands") {
  hardware::Chip chip = round_chip();
  chip.matrix_rate_fp8.value = 200e12;
  chip.step_overhead.value = 0.3;
  Operation gemm = balanced();
  gemm.flops *= 10.0;
  CHECK(seconds(chip, gemm) == Approx(101e-6).epsilon(1e-12));
  gemm.training_flops = gemm.flops;
  CHECK(seconds(chip, gemm) == Approx(131e-6).epsilon(1e-12));
  gemm.products = hardware::MatrixType::fp8;
  CHECK(seconds(chip, gemm) == Approx(81e-6).epsilon(1e-12));
}

TEST_CASE("roofs have names") {
  CHECK(name(Roof::matrix) == "matrix");
  CHECK(name(Roof::vector) == "vector");
  CHECK(name(Roof::hbm) == "hbm");
}

}  // namespace
}  // namespace equarx::workloads::roofline_test
