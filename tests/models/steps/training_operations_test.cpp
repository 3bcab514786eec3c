#include "models/steps/training_operations.hpp"

#include <algorithm>
#include <numeric>
#include <string_view>

#include "tests/catch.hpp"
#include "tests/models/steps/trainings.hpp"

namespace equarx::steps::training_operations_test {
namespace {

using testing::kLayerMatrices;
using testing::small_training;
using workloads::Operation;
using workloads::OperationKind;

constexpr double kRows = 8.0 * 32;

double flops(const std::vector<Operation>& operations, OperationKind kind) {
  double sum = 0.0;
  for (const Operation& operation : operations)
    if (operation.kind == kind) sum += operation.flops;
  return sum;
}
double flops(const LayerWork& work, OperationKind kind) {
  return flops(work.attention, kind) + flops(work.ffn, kind);
}
double cast_bytes(const LayerWork& work) {
  double bytes = 0.0;
  for (const auto* half : {&work.attention, &work.ffn})
    for (const Operation& operation : *half)
      if (operation.name.starts_with("cast")) bytes += operation.written_bytes;
  return bytes;
}

TEST_CASE("a backward pass has two GEMMs per weight GEMM, and five per two of attention") {
  const TrainingOperations operations = training_operations(small_training(), {});
  const double products = 2.0 * kRows * kLayerMatrices;
  CHECK(flops(operations.layers[0].forward, OperationKind::matrix) == Approx(products));
  CHECK(flops(operations.layers[0].backward, OperationKind::matrix) == Approx(2.0 * products));
  const double attention = flops(operations.layers[0].forward, OperationKind::attention);
  CHECK(attention == Approx(2.0 * 2.0 * 8 * 32 * 32 * 4 * 16));
  CHECK(flops(operations.layers[0].backward, OperationKind::attention) == Approx(2.5 * attention));
  CHECK(flops(operations.head, OperationKind::matrix) == Approx(2.0 * kRows * 64 * 256));
  CHECK(flops(operations.head_backward, OperationKind::matrix) == Approx(4.0 * kRows * 64 * 256));
}

TEST_CASE("activations that are not kept are recomputed") {
  Training training = small_training();
  const auto recompute = [&](const Remat& remat) {
    training.remat = remat;
    return training_operations(training, {}).layers[0].recompute;
  };
  CHECK(flops(recompute({}), OperationKind::matrix) == 0.0);
  CHECK(flops(recompute({}), OperationKind::attention) == 0.0);
  // All but the last GEMM of the FFN, whose result is not needed.
  CHECK(flops(recompute(kFullRemat), OperationKind::matrix) ==
        Approx(2.0 * kRows * (kLayerMatrices - 64.0 * 128)));
  CHECK(flops(recompute(kMinimalRemat), OperationKind::matrix) == 0.0);
  CHECK(flops(recompute(kMinimalRemat), OperationKind::attention) > 0.0);
  CHECK(flops(recompute({.ffn_in = Keep::recompute}), OperationKind::matrix) ==
        Approx(2.0 * kRows * 2 * 64 * 128));
  CHECK(flops(recompute({.ffn_in = Keep::offload}), OperationKind::matrix) == 0.0);
}

TEST_CASE("the result of the FFN is kept or recomputed if a post-norm reads it") {
  Training training = small_training();
  CHECK(activation_bytes(training, {}, {}).ffn_out == 0.0);
  training.model.post_norms = true;
  CHECK(activation_bytes(training, {}, {}).ffn_out == kRows * 64 * 2);
  CHECK(activation_bytes(training, {}, {.tensor = 2}).ffn_out == kRows * 64 * 2);
  const auto recompute = [&](const Remat& remat) {
    training.remat = remat;
    return flops(training_operations(training, {}).layers[0].recompute, OperationKind::matrix);
  };
  CHECK(recompute({}) == 0.0);
  CHECK(recompute(kMinimalRemat) == 0.0);
  CHECK(recompute({.ffn_in = Keep::recompute}) == Approx(2.0 * kRows * 3 * 64 * 128));
  CHECK(recompute(kFullRemat) == Approx(2.0 * kRows * kLayerMatrices));
}

TEST_CASE("without a norm before the head only logits and loss are left") {
  Training training = small_training();
  training.model.final_norm = false;
  const TrainingOperations operations = training_operations(training, {});
  REQUIRE(operations.head.size() == 2);
  CHECK(operations.head.front().name == "logits");
  for (const Operation& operation : operations.head_backward)
    CHECK(operation.kind == OperationKind::matrix);
}

TEST_CASE("operands of FP8 are cast once each, and read in one byte") {
  Training training = small_training();
  const TrainingOperations plain = training_operations(training, {});
  training.precision = precisions()[1];
  REQUIRE(training.precision.name == "transformer-engine");
  const TrainingOperations fp8 = training_operations(training, {});
  CHECK(flops(fp8.layers[0].forward, OperationKind::matrix) ==
        flops(plain.layers[0].forward, OperationKind::matrix));
  // Inputs of qkv, output, FFN in and FFN out, and their weights.
  CHECK(cast_bytes(fp8.layers[0].forward) == Approx(kRows * (64 + 64 + 64 + 128) + kLayerMatrices));
  // Gradients of their results.
  CHECK(cast_bytes(fp8.layers[0].backward) == Approx(kRows * (128 + 64 + 256 + 64)));
  for (const Operation& operation : fp8.layers[0].forward.ffn)
    if (operation.kind == OperationKind::matrix)
      CHECK(operation.products == hardware::MatrixType::fp8);
  for (const Operation& operation : fp8.layers[0].forward.attention)
    if (operation.kind == OperationKind::attention)
      CHECK(operation.products == hardware::MatrixType::bf16);
  CHECK_FALSE(fp8.layers[0].forward.ffn.back().name.empty());
  const auto product = [](const LayerWork& work, std::string_view name) {
    for (const Operation& operation : work.ffn)
      if (operation.name == name) return operation;
    throw std::logic_error("no such operation");
  };
  CHECK(product(fp8.layers[0].forward, "ffn_out").read_bytes == kRows * 128);
  CHECK(product(plain.layers[0].forward, "ffn_out").read_bytes == kRows * 128 * 2);
}

TEST_CASE("lost casts are repeated in the backward pass") {
  Training training = small_training();
  training.precision = precisions()[1];
  const auto backward = [&](const Remat& remat, std::uint32_t fsdp) {
    training.remat = remat;
    training.batch = 8 * fsdp;  // constant batch per chip
    return cast_bytes(training_operations(training, {.fsdp = fsdp}).layers[0].backward);
  };
  const double gradients = kRows * (128 + 64 + 256 + 64);
  const double inputs = kRows * (64 + 64 + 64 + 128);
  CHECK(backward({}, 1) == Approx(gradients));
  CHECK(backward({}, 2) == Approx(gradients + kLayerMatrices));
  CHECK(backward(kMinimalRemat, 1) == Approx(gradients + inputs));
  CHECK(backward(kMinimalRemat, 2) == Approx(gradients + inputs + kLayerMatrices));
  // The first GEMMs of the FFN are recomputed, with their casts.
  CHECK(backward({.ffn_in = Keep::recompute}, 2) ==
        Approx(gradients + inputs - kRows * 64 + kLayerMatrices - 2.0 * 64 * 128));
}

TEST_CASE("attention in FP8 casts queries, keys and values, and the gradient of its result") {
  Training training = small_training();
  const double te = [&] {
    training.precision = precisions()[1];
    return cast_bytes(training_operations(training, {}).layers[0].forward);
  }();
  training.precision = precisions()[3];
  REQUIRE(training.precision.name == "fog");
  const TrainingOperations fog = training_operations(training, {});
  // 4 query heads and 2 x 2 key and value heads of 16.
  CHECK(cast_bytes(fog.layers[0].forward) == Approx(te + kRows * 128));
  CHECK(cast_bytes(fog.layers[0].backward) == Approx(kRows * (128 + 64 + 256 + 64) + kRows * 64));
  for (const Operation& operation : fog.layers[0].forward.attention)
    if (operation.kind == OperationKind::attention) {
      CHECK(operation.products == hardware::MatrixType::fp8);
      CHECK(operation.read_bytes == kRows * 128);
      CHECK(operation.written_bytes == kRows * 64 * 2);
    }
  training.remat = kMinimalRemat;  // recomputes attention with its casts
  CHECK(cast_bytes(training_operations(training, {}).layers[0].recompute) == Approx(kRows * 128));
}

/// HBM bytes of computing and accumulating weight gradients of a layer.
double gradient_bytes(const TrainingOperations& operations) {
  double bytes = 0.0;
  for (const auto* half :
       {&operations.layers[0].backward.attention, &operations.layers[0].backward.ffn})
    for (const Operation& operation : *half)
      if (operation.name == "weight_gradient" || operation.name == "add_gradients")
        bytes += operation.hbm_bytes();
  return bytes;
}

TEST_CASE("gradients are accumulated over microbatches by their GEMMs, or by a pass") {
  Training training = small_training();
  const double alone = gradient_bytes(training_operations(training, {}));
  training.gradient_dtype = numerics::ElementFormat::fp32;
  training.gradient_bytes = 4.0;
  CHECK(gradient_bytes(training_operations(training, {})) == Approx(alone + 2 * kLayerMatrices));
  training.batch = 16;  // constant size of each of two microbatches
  training.microbatches = 2;
  const double operands = alone - 2 * kLayerMatrices;
  CHECK(gradient_bytes(training_operations(training, {})) ==
        Approx(operands + (4 + 4) * kLayerMatrices));
  training.fused_accumulation = false;
  CHECK(gradient_bytes(training_operations(training, {})) ==
        Approx(operands + (2 + 2 + 4 + 4) * kLayerMatrices));
  training.batch = 32;  // after a scatter each chip sums its half
  CHECK(gradient_bytes(training_operations(training, {.fsdp = 2})) ==
        Approx(operands + 4 * kLayerMatrices + (4 + 4 + 4) * kLayerMatrices / 2));
  training.fused_accumulation = true;
  CHECK(gradient_bytes(training_operations(training, {.fsdp = 2})) ==
        Approx(operands + 4 * kLayerMatrices + (4 + 4 + 4) * kLayerMatrices / 2));
}

TEST_CASE("transposed casts are written twice, except in attention") {
  Training training = small_training();
  training.precision = precisions()[3];
  const TrainingOperations once = training_operations(training, {});
  training.transposed_casts = true;
  const TrainingOperations twice = training_operations(training, {});
  CHECK(cast_bytes(twice.layers[0].forward) ==
        Approx(2 * cast_bytes(once.layers[0].forward) - kRows * 128));
  CHECK(cast_bytes(twice.layers[0].backward) ==
        Approx(2 * cast_bytes(once.layers[0].backward) - kRows * 64));
}

TEST_CASE("a distributed optimizer updates a shard, and also writes it in bf16") {
  Training training = small_training();
  const double whole = training_operations(training, {.data = 4}).optimizer.front().hbm_bytes();
  training.distributed_optimizer = true;
  const double part = training_operations(training, {.data = 4}).optimizer.front().hbm_bytes();
  // Weights and moments read and written, gradients read.
  constexpr double kBytes = 2 * 4 + 2 * 8 + 2;
  CHECK(part == Approx(whole / 4 * (kBytes + 2) / kBytes));
}

TEST_CASE("work is divided over the mesh") {
  const Training training = small_training();
  const TrainingOperations whole = training_operations(training, {});
  const TrainingOperations half = training_operations(training, {.tensor = 2});
  CHECK(flops(half.layers[0].forward, OperationKind::matrix) ==
        Approx(0.5 * flops(whole.layers[0].forward, OperationKind::matrix)));
  const TrainingOperations quarter = training_operations(training, {.data = 2, .fsdp = 2});
  CHECK(flops(quarter.layers[0].backward, OperationKind::attention) ==
        Approx(0.25 * flops(whole.layers[0].backward, OperationKind::attention)));
  CHECK(quarter.optimizer.front().hbm_bytes() == Approx(0.5 * whole.optimizer.front().hbm_bytes()));
}

TEST_CASE("activations of one layer") {
  const ActivationBytes bytes = activation_bytes(small_training(), {}, {});
  CHECK(bytes.layer_input == kRows * 64 * 2);
  CHECK(bytes.qkv == kRows * 128 * 2);
  CHECK(bytes.attention == kRows * 64 * 2);
  CHECK(bytes.ffn_in == kRows * 256 * 2);
}

/// Sum of all operations of a name.
Operation total(const LayerWork& work, std::string_view name) {
  Operation sum;
  for (const auto* half : {&work.attention, &work.ffn})
    for (const Operation& operation : *half)
      if (operation.name == name) {
        sum.vector_ops += operation.vector_ops;
        sum.read_bytes += operation.read_bytes;
        sum.written_bytes += operation.written_bytes;
      }
  return sum;
}

TEST_CASE("element-wise work reads results' gradients and operands, and writes as many gradients") {
  const TrainingOperations operations = training_operations(small_training(), {});
  const Operation backward = total(operations.layers[0].backward, "elementwise_gradient");
  constexpr double kResidual = kRows * 64;     // two of them, of two operands
  constexpr double kRope = kRows * (64 + 32);  // of one operand
  constexpr double kActivation = kRows * 128;  // of gate and up
  CHECK(backward.read_bytes == 2 * (2 * 3 * kResidual + 2 * kRope + 3 * kActivation));
  CHECK(backward.written_bytes == 2 * (2 * 2 * kResidual + kRope + 2 * kActivation));
  // Twice the forward operations: decoding of each operand, add and square sum (3), rotation (4),
  // SiLU and gate (6), encoding (2).
  CHECK(backward.vector_ops ==
        2 * (2 * (2 + 3 + 2) * kResidual + (1 + 4 + 2) * kRope + (2 + 6 + 2) * kActivation));
}

TEST_CASE("the loss reads and writes the logits once") {
  Training training = small_training();
  const auto loss = [&] {
    const Operation last = training_operations(training, {}).head.back();
    REQUIRE(last.name == "loss");
    return last;
  };
  CHECK(loss().read_bytes == kRows * 256 * 2);
  CHECK(loss().written_bytes == kRows * 256 * 2);
  CHECK(loss().vector_ops == kRows * 256 * (1 + 9 + 2));  // decode, softmax, encode
  training.precision.head.forward = hardware::MatrixType::fp32;
  CHECK(loss().hbm_bytes() == kRows * 256 * (4 + 4));
}

TEST_CASE("Adam takes fourteen operations per weight, on weights, moments and gradients") {
  const Training training = small_training();
  const double weights = workloads::parameters(training.model);
  const Operation update = training_operations(training, {}).optimizer.front();
  // First moment 3, second 4, bias corrections 2, root, epsilon, quotient, decay and step 2.
  CHECK(update.vector_ops == 14 * weights);
  CHECK(update.read_bytes == (4 + 8 + 2) * weights);
  CHECK(update.written_bytes == (4 + 8) * weights);
}

TEST_CASE("casts to FP8 read each bf16 operand once") {
  Training training = small_training();
  training.precision = precisions()[1];
  REQUIRE(training.precision.name == "transformer-engine");
  const TrainingOperations operations = training_operations(training, {});
  constexpr double kInputs = kRows * (64 + 64 + 64 + 128);
  constexpr double kGradients = kRows * (128 + 64 + 256 + 64);
  CHECK(total(operations.layers[0].forward, "cast_inputs").read_bytes == 2 * kInputs);
  CHECK(total(operations.layers[0].forward, "cast_weights").read_bytes == 2 * kLayerMatrices);
  const Operation gradients = total(operations.layers[0].backward, "cast_gradients");
  CHECK(gradients.read_bytes == 2 * kGradients);
  CHECK(gradients.vector_ops == (1 + 1 + 2 + 6) * kGradients);  // decode, scale, amax, encode
}

TEST_CASE("tiles of logits are computed again, and their table gradients summed in FP32") {
  Training training = small_training();
  CHECK(training_operations(training, {}).head_recompute.empty());
  training.logit_tiles = 4;
  const TrainingOperations tiled = training_operations(training, {});
  CHECK(flops(tiled.head_recompute, OperationKind::matrix) == Approx(2.0 * kRows * 64 * 256));
  CHECK(tiled.head_recompute.back().name == "loss");
  const auto& sums = tiled.head_backward;
  const auto sum = std::ranges::find(sums, "sum_tiles", &Operation::name);
  REQUIRE(sum != sums.end());
  // All but the first of the four add to the sum of 256 x 64 gradients.
  CHECK(sum->read_bytes == 3 * 4.0 * 256 * 64);
  CHECK(sum->written_bytes == sum->read_bytes);
}

TEST_CASE("indivisible batches and models are rejected with a remedy") {
  Training training = small_training();
  CHECK_THROWS_WITH(sequences_of_chip(training, {.fsdp = 3}),
                    Catch::Contains("use a multiple of 3"));
  training.microbatches = 16;
  CHECK_THROWS_WITH(sequences_of_chip(training, {}), Catch::Contains("16 microbatches"));
  CHECK_THROWS_AS(training_operations(small_training(), {.tensor = 3}), std::invalid_argument);
}

TEST_CASE("experts have two backward GEMMs per GEMM, and recompute their results for the sum") {
  Training training = small_training();
  training.model = testing::small_experts();
  const workloads::LayerKind kind{.experts = true};
  const LayerTraining plain = training_operations(training, {}).layer(kind);
  const double experts = 2.0 * kRows * 2 * 3 * 64 * 32;
  const double rest = 2.0 * kRows * (64 * 128 + 64 * 64 + 64 * 8);  // projections and router
  CHECK(flops(plain.forward, OperationKind::matrix) == Approx(experts + rest));
  CHECK(flops(plain.backward, OperationKind::matrix) == Approx(2.0 * (experts + rest)));
  CHECK(flops(plain.recompute, OperationKind::matrix) == 0.0);
  training.remat = {.ffn_in = Keep::recompute};
  const LayerTraining full = training_operations(training, {}).layer(kind);
  CHECK(flops(full.recompute, OperationKind::matrix) == Approx(experts));
  // Inner width, rows and results of two experts.
  CHECK(activation_bytes(training, kind, {}).ffn_in == 2 * kRows * 2 * (2 * 32 + 2 * 64));
  CHECK(layer_weights(training.model, kind, {.tensor = 2}).all() ==
        (64.0 * 128 + 64 * 64 + 8 * 3 * 64 * 32 + 64 * 8 + 2 * 64) / 2);
}

TEST_CASE("grouped GEMMs read each weight once, and cast each row once") {
  Training training = small_training();
  training.model = testing::small_experts();
  const workloads::LayerKind kind{.experts = true};
  const auto ffn = [&] { return training_operations(training, {}).layer(kind).forward.ffn; };
  const auto find = [](const std::vector<Operation>& operations, std::string_view name) {
    return *std::ranges::find(operations, name, &Operation::name);
  };
  CHECK(find(ffn(), "experts_in").weight_bytes == Approx(8 * 64 * 64 * 2));
  CHECK(find(ffn(), "experts_in").read_bytes == Approx(2 * kRows * 64 * 2));
  training.precision = precisions()[1];
  CHECK(find(ffn(), "experts_in").read_bytes == Approx(2 * kRows * 64));
  CHECK(find(ffn(), "router").products == hardware::MatrixType::bf16);
}

TEST_CASE("the mask of combination has a gradient, and that of dispatch none") {
  Training training = small_training();
  training.model = testing::small_experts();
  training.experts = {.capacity_factor = 1.0, .dispatch = workloads::Dispatch::einsum};
  const LayerTraining passes = training_operations(training, {}).layer({.experts = true});
  const double mask = 2.0 * kRows * (32 * 2) * 64;  // of a sequence of 32, two rows of each
  CHECK(flops(passes.forward, OperationKind::vector) == Approx(2.0 * mask));
  CHECK(flops(passes.backward, OperationKind::vector) == Approx(3.0 * mask));
}

}  // namespace
}  // namespace equarx::steps::training_operations_test
