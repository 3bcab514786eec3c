#include "models/steps/training_memory.hpp"

#include "tests/catch.hpp"
#include "tests/models/steps/trainings.hpp"

namespace equarx::steps::training_memory_test {
namespace {

using testing::kLayer;
using testing::kTable;
using testing::small_training;

TEST_CASE("memory per chip") {
  Training training = small_training();
  const double weights = 2 * kLayer + 2 * kTable + 64;
  const TrainingMemory alone = training_memory(training, lay_mesh({1}, {{"fsdp", 1}}));
  CHECK(alone.weights == Approx(4 * weights));
  CHECK(alone.optimizer == Approx(8 * weights));
  CHECK(alone.gradients == Approx(2 * weights));
  CHECK(alone.gathered == 0.0);
  CHECK(alone.logits == 8 * 32 * 256 * 2.0);
  const TrainingMemory four = training_memory(training, lay_mesh({4}, {{"fsdp", 4}}));
  CHECK(four.weights == Approx(weights));
  CHECK(four.gathered == Approx(2 * 2 * kLayer));
  CHECK(four.gradients == Approx(2 * weights / 4 + 2 * kLayer));
  training.remat = kFullRemat;
  const TrainingMemory less = training_memory(training, lay_mesh({4}, {{"fsdp", 4}}));
  CHECK(less.activations < four.activations);
  CHECK(less.total() == Approx(less.weights + less.gradients + less.optimizer + less.gathered +
                               less.activations + less.logits));
}

TEST_CASE(
    "a distributed optimizer keeps weights and moments of its shard, and all weights in bf16") {
  Training training = small_training();
  const Mesh mesh = lay_mesh({4}, {{"data", 4}});
  const TrainingMemory all = training_memory(training, mesh);
  training.distributed_optimizer = true;
  const TrainingMemory part = training_memory(training, mesh);
  CHECK(part.weights == Approx(all.weights / 4 + all.weights / 2));
  CHECK(part.optimizer == Approx(all.optimizer / 4));
  CHECK(part.gradients == Approx(all.gradients));
}

TEST_CASE("a gathered table adds to the layers gathered ahead") {
  Training training = small_training();
  training.model.vocabulary = 2048;
  constexpr double kLarge = 2048.0 * 64;
  const Mesh mesh = lay_mesh({4}, {{"fsdp", 4}});
  CHECK(training_memory(training, mesh).gathered == Approx(2 * (kLarge + kLayer)));
  training.prefetch = 100;  // more layers than there are
  CHECK(training_memory(training, mesh).gathered == Approx(2 * (kLarge + 2 * kLayer)));
  training.prefetch = 0;
  CHECK(training_memory(training, mesh).gathered == Approx(2 * kLarge));
}

TEST_CASE("activations: kept ones of all layers, and those of one layer with gradients") {
  Training training = small_training();
  const Mesh mesh = lay_mesh({2}, {{"tensor", 2}});
  const auto bytes = [&] { return training_memory(training, mesh).activations; };
  constexpr double kRows = 8 * 32 * 2.0;  // bytes of one bf16 value per position
  // Values per position on each of two chips: input, q k v, attention, its output, gate and up.
  constexpr double kValues = 64 + 64 + 32 + 64 + 128;
  CHECK(bytes() == Approx(kRows * (2 + 2) * kValues));
  training.remat = kFullRemat;
  CHECK(bytes() == Approx(kRows * (2 * 64 + 2 * kValues)));
  training.remat.layer_input = Keep::offload;
  CHECK(bytes() == Approx(kRows * (2 * 64 + 2 * kValues)));  // two buffers, one per layer
  training.prefetch = 0;
  CHECK(bytes() == Approx(kRows * (64 + 2 * kValues)));
  training.sequence_parallel = true;
  CHECK(bytes() == Approx(kRows * (32 + 2 * (kValues - 64) + 3 * 64)));
}

}  // namespace
}  // namespace equarx::steps::training_memory_test
