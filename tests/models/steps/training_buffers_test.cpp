#include "models/steps/training_buffers.hpp"

#include <algorithm>
#include <string>
#include <variant>

#include "models/steps/live_memory.hpp"
#include "models/steps/mesh_layout.hpp"
#include "tests/catch.hpp"
#include "tests/models/steps/trainings.hpp"

namespace equarx::steps::training_buffers_test {
namespace {

using testing::kLayer;
using testing::kTable;
using testing::small_training;

constexpr double kWeights = 2 * kLayer + 2 * kTable + 64;
/// Bytes of one bf16 value per position of eight sequences of 32.
constexpr double kRows = 8 * 32 * 2.0;
/// Values per position: q, k, v; gate and up; the hidden activation of the FFN.
constexpr double kQkv = 64 + 64;
constexpr double kFfnIn = 256;
constexpr double kHidden = 128;
constexpr double kWidth = 64;

LiveMemory peak(const Training& training, const Mesh& mesh) {
  return peak_memory(training_step(training, mesh));
}

Mesh one_chip() { return lay_mesh({1}, {{"fsdp", 1}}); }

/// Bytes of one use that are alive during the task called `name`.
double alive(const StepGraph& graph, const std::string& name, BufferUse use) {
  StepGraph at = graph;
  const auto task = std::ranges::find(graph.tasks, name, &Task::name);
  REQUIRE(task != graph.tasks.end());
  const auto id = static_cast<TaskId>(task - graph.tasks.begin());
  const auto core_after = [&](TaskId buffer_end) {
    while (!std::holds_alternative<Computation>(graph.tasks.at(buffer_end).work)) ++buffer_end;
    return buffer_end;
  };
  double bytes = 0.0;
  for (const Buffer& buffer : graph.buffers)
    if (buffer.use == use && core_after(buffer.first) <= id && core_after(buffer.last) >= id)
      bytes += buffer.bytes;
  return bytes;
}

TEST_CASE("weights and optimizer state live all the time, gradients from the first backward task") {
  const StepGraph graph = training_step(small_training(), one_chip());
  for (const char* const name : {"embedding", "head", "optimizer"}) {
    CHECK(alive(graph, name, BufferUse::weights) == Approx(4 * kWeights));
    CHECK(alive(graph, name, BufferUse::optimizer) == Approx(8 * kWeights));
  }
  CHECK(alive(graph, "head", BufferUse::gradients) == 0.0);
  CHECK(alive(graph, "head backward", BufferUse::gradients) == Approx(2 * kWeights));
  CHECK(alive(graph, "optimizer", BufferUse::gradients) == Approx(2 * kWeights));
  CHECK(alive(graph, "forward 0", BufferUse::gathered) == 0.0);
}

TEST_CASE("fsdp shards the states, and gathers weights as far ahead as they are prefetched") {
  Training training = small_training();
  const Mesh mesh = lay_mesh({4}, {{"fsdp", 4}});
  StepGraph graph = training_step(training, mesh);
  CHECK(alive(graph, "forward 0", BufferUse::weights) == Approx(kWeights));
  CHECK(alive(graph, "forward 0", BufferUse::gathered) == Approx(2 * 2 * kLayer));
  CHECK(alive(graph, "forward 1", BufferUse::gathered) == Approx(2 * (kLayer + kTable)));
  CHECK(alive(graph, "head", BufferUse::gathered) == Approx(2 * kTable));
  CHECK(alive(graph, "head backward", BufferUse::gathered) == Approx(2 * (kTable + kLayer)));
  // Gradients of the head are scattered while the last layer is computed.
  CHECK(alive(graph, "backward 1", BufferUse::gradients) ==
        Approx(2 * kWeights / 4 + 2 * (kTable + kLayer)));
  CHECK(alive(graph, "backward 0", BufferUse::gradients) == Approx(2 * kWeights / 4 + 4 * kLayer));
  CHECK(alive(graph, "optimizer", BufferUse::gradients) == Approx(2 * kWeights / 4 + 2 * kTable));
  training.prefetch = 0;
  graph = training_step(training, mesh);
  CHECK(alive(graph, "forward 0", BufferUse::gathered) == Approx(2 * kLayer));
  CHECK(alive(graph, "head backward", BufferUse::gathered) == Approx(2 * kTable));
}

TEST_CASE(
    "a distributed optimizer keeps weights and moments of its shard, and all weights in bf16") {
  Training training = small_training();
  const Mesh mesh = lay_mesh({4}, {{"data", 4}});
  const LiveMemory all = peak(training, mesh);
  training.distributed_optimizer = true;
  const LiveMemory part = peak(training, mesh);
  CHECK(part.weights == Approx(all.weights / 4 + all.weights / 2));
  CHECK(part.optimizer == Approx(all.optimizer / 4));
  CHECK(part.gradients == Approx(all.gradients));
  training.sharded_gradients = true;  // ZeRO stage 2; gradients of a table come last
  CHECK(alive(training_step(training, mesh), "optimizer", BufferUse::gradients) ==
        Approx(all.gradients / 4 + 2 * kTable));
  training.buckets = 3;
  CHECK(alive(training_step(training, mesh), "optimizer", BufferUse::gradients) ==
        Approx(all.gradients / 4 + 3 * 2 * kTable));
}

TEST_CASE("kept activations accumulate in the forward pass and are freed in the backward pass") {
  const StepGraph graph = training_step(small_training(), one_chip());
  constexpr double kKept = kWidth + kQkv + kWidth + kWidth + kFfnIn;
  // In progress: the normalized input, the hidden activation and the result.
  constexpr double kForward = kWidth + kHidden + kWidth;
  CHECK(alive(graph, "forward 0", BufferUse::activations) == Approx(kRows * (kKept + kForward)));
  CHECK(alive(graph, "forward 1", BufferUse::activations) ==
        Approx(kRows * (2 * kKept + kForward)));
  CHECK(alive(graph, "head", BufferUse::activations) == Approx(kRows * (2 * kKept + 2 * kWidth)));
  constexpr double kBackward = 2 * kWidth + kHidden + kFfnIn;
  CHECK(alive(graph, "backward 1", BufferUse::activations) ==
        Approx(kRows * (2 * kKept + kBackward)));
  CHECK(alive(graph, "backward 0", BufferUse::activations) == Approx(kRows * (kKept + kBackward)));
  CHECK(alive(graph, "optimizer", BufferUse::activations) == 0.0);
}

TEST_CASE("recomputed activations live in their layer, offloaded ones as far as is prefetched") {
  Training training = small_training();
  training.remat = kFullRemat;
  StepGraph graph = training_step(training, one_chip());
  constexpr double kRecomputed = kQkv + kWidth + kWidth + kFfnIn;
  constexpr double kBackward = 2 * kWidth + kHidden + kFfnIn;
  CHECK(alive(graph, "head", BufferUse::activations) == Approx(kRows * (2 + 2) * kWidth));
  CHECK(alive(graph, "backward 1", BufferUse::activations) ==
        Approx(kRows * (2 * kWidth + kRecomputed + kBackward)));
  training.model.layers = 4;
  training.remat.layer_input = Keep::offload;
  graph = training_step(training, one_chip());
  // The inputs of this layer and of the previous one, in flight to the host.
  const auto forward = [&] { return alive(graph, "forward 3", BufferUse::activations); };
  constexpr double kForward =
      kWidth + kWidth + kFfnIn + kHidden + kWidth;  // with the attention's result
  CHECK(forward() == Approx(kRows * (2 * kWidth + kForward)));
  training.prefetch = 0;
  graph = training_step(training, one_chip());
  CHECK(forward() == Approx(kRows * (kWidth + kForward)));
}

TEST_CASE("without pre-norms no normalized input lives, and a post-norm needs its result") {
  Training training = small_training();
  const auto activations = [&](const std::string& task) {
    return alive(training_step(training, one_chip()), task, BufferUse::activations) / kRows;
  };
  const double forward = activations("forward 0");
  const double backward = activations("backward 0");
  const double head = activations("head");
  training.model.post_norms = true;
  CHECK(activations("forward 0") == Approx(forward + kWidth));
  CHECK(activations("backward 0") == Approx(backward + 2 * kWidth));  // and its gradient
  training.model.pre_norms = training.model.final_norm = false;
  CHECK(activations("forward 0") == Approx(forward));
  CHECK(activations("backward 0") == Approx(backward + kWidth));
  CHECK(activations("head") == Approx(head + 2 * kWidth - kWidth));
}

TEST_CASE("logits live from the head to its backward pass, a tile at a time") {
  Training training = small_training();
  StepGraph graph = training_step(training, one_chip());
  CHECK(alive(graph, "forward 1", BufferUse::logits) == 0.0);
  CHECK(alive(graph, "head", BufferUse::logits) == kRows * 256);
  CHECK(alive(graph, "head backward", BufferUse::logits) == kRows * 256);
  CHECK(alive(graph, "backward 1", BufferUse::logits) == 0.0);
  training.logit_tiles = 4;
  graph = training_step(training, one_chip());
  CHECK(alive(graph, "head", BufferUse::logits) == kRows * 256 / 4);
  CHECK(alive(graph, "head backward", BufferUse::gradients) ==
        Approx(2 * kWeights + 4 * kTable));  // an FP32 sum over the tiles
}

TEST_CASE("sequence parallelism shards the residual stream and gathers it for each half") {
  Training training = small_training();
  training.remat = kFullRemat;
  const Mesh mesh = lay_mesh({2}, {{"tensor", 2}});
  const auto bytes = [&] {
    return alive(training_step(training, mesh), "backward 0, FFN", BufferUse::activations);
  };
  constexpr double kHalves = (kQkv + kWidth + kFfnIn + kHidden + kFfnIn) / 2;  // sharded by heads
  CHECK(bytes() == Approx(kRows * (kHalves + kWidth + kWidth + 2 * kWidth)));
  training.sequence_parallel = true;
  CHECK(bytes() == Approx(kRows * (kHalves + (2 * kWidth + 2 * kWidth) / 2 + 3 * kWidth)));
}

TEST_CASE("the peak is at least every task's memory, and that of one task") {
  Training training = small_training();
  training.microbatches = 2;
  for (const std::uint32_t prefetch : {0U, 1U, 5U}) {
    training.prefetch = prefetch;
    const StepGraph graph = training_step(training, lay_mesh({4}, {{"fsdp", 4}}));
    double most = 0.0;
    for (const Task& task : graph.tasks) {
      if (!std::holds_alternative<Computation>(task.work)) continue;
      double total = 0.0;
      for (const BufferUse use : {BufferUse::weights, BufferUse::gradients, BufferUse::optimizer,
                                  BufferUse::gathered, BufferUse::activations, BufferUse::logits})
        total += alive(graph, task.name, use);
      most = std::max(most, total);
    }
    CHECK(peak_memory(graph).total() == Approx(most));
  }
}

TEST_CASE("chips of the axis expert hold their experts, and rows on their way to others") {
  Training training = small_training();
  training.model = testing::small_experts();
  const StepGraph whole = training_step(training, lay_mesh({4}, {{"data", 4}}));
  const StepGraph divided = training_step(training, lay_mesh({4}, {{"expert", 4}}));
  constexpr double kRouted = 8 * 3 * 64.0 * 32;
  for (const auto& [use, bytes] :
       {std::pair{BufferUse::weights, 4}, {BufferUse::optimizer, 8}, {BufferUse::gradients, 2}})
    CHECK(alive(whole, "optimizer", use) - alive(divided, "optimizer", use) ==
          Approx(bytes * kRouted * 3 / 4));
  // A quarter of the rows, two of each position.
  CHECK(alive(divided, "forward 1", BufferUse::activations) -
            alive(whole, "forward 1", BufferUse::activations) ==
        Approx(kRows / 4 * 2 * 64));
}

}  // namespace
}  // namespace equarx::steps::training_buffers_test
