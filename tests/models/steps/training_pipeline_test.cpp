#include "models/steps/training_pipeline.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <variant>

#include "models/steps/mesh_layout.hpp"
#include "models/steps/roles.hpp"
#include "tests/catch.hpp"
#include "tests/models/steps/trainings.hpp"

namespace equarx::steps::training_pipeline_test {
namespace {

using collectives::Collective;
using testing::kLayer;
using testing::kTable;
using testing::small_training;

/// Four layers, four microbatches of two sequences.
Training training_by(PipelineKind schedule, std::uint32_t chunks = 1) {
  Training training = small_training();
  training.model.layers = 4;
  training.microbatches = 4;
  training.pipeline = {.schedule = schedule, .chunks = chunks};
  return training;
}

Mesh two_by_two() { return lay_mesh({2, 2}, {{"pipeline", 2}, {"data", 2}}); }

int count(const StepGraph& graph, const std::string& group) {
  return static_cast<int>(std::ranges::count(graph.tasks, group, &Task::group));
}

double elements(const StepGraph& graph, Collective collective) {
  double sum = 0.0;
  for (const Task& task : graph.tasks)
    if (const auto* call = std::get_if<CollectiveCall>(&task.work))
      if (call->collective == collective) sum += static_cast<double>(call->elements);
  return sum;
}

const Task& task_of(const StepGraph& graph, const std::string& name) {
  const auto found = std::ranges::find(graph.tasks, name, &Task::name);
  REQUIRE(found != graph.tasks.end());
  return *found;
}

TEST_CASE("the chips of a stage run its layers, the first the embedding, the last the head") {
  const StepGraph graph =
      training_step(training_by(PipelineKind::one_forward_one_backward), two_by_two());
  using Chips = std::vector<std::uint32_t>;
  for (const auto& [name, chips] :
       std::map<std::string, Chips>{{"embedding of microbatch 3", {0, 1}},
                                    {"forward 1 of microbatch 0", {0, 1}},
                                    {"backward 2 of microbatch 3", {2, 3}},
                                    {"head of microbatch 0", {2, 3}},
                                    {"optimizer of stage 1", {2, 3}}})
    CHECK(listed_chips(graph, task_of(graph, name)) == chips);
}

TEST_CASE("activations and gradients are sent between neighbours, once per microbatch") {
  Training training = training_by(PipelineKind::one_forward_one_backward);
  const StepGraph graph = training_step(training, two_by_two());
  CHECK(count(graph, "send activations") == 4);
  CHECK(count(graph, "receive gradients") == 4);
  const auto& permute =
      std::get<Permute>(task_of(graph, "send input of part 1 of microbatch 2").work);
  CHECK_FALSE(permute.waits);
  CHECK(permute.bytes == 32 * 64 * 2);  // a sequence of 32 positions per chip
  CHECK(graph.chip_lists[permute.pairs].lists ==
        std::vector<std::vector<std::uint32_t>>{{0, 2}, {1, 3}});
  CHECK(count(graph, "convert messages") == 0);
  training.pipeline.activation_dtype = numerics::ElementFormat::fp8_e4m3;
  const StepGraph fp8 = training_step(training, two_by_two());
  CHECK(std::get<Permute>(task_of(fp8, "send input of part 1 of microbatch 2").work).bytes ==
        32 * 64);
  CHECK(count(fp8, "convert messages") == 2 * 2 * 4);
  training = training_by(PipelineKind::interleaved, 2);
  // Chunks go on to the first stage: three borders of four parts.
  CHECK(count(training_step(training, two_by_two()), "send activations") == 3 * 4);
}

TEST_CASE("with sequence parallelism each chip sends its positions") {
  Training training = training_by(PipelineKind::gpipe);
  training.sequence_parallel = true;
  const StepGraph graph =
      training_step(training, lay_mesh({2, 2}, {{"pipeline", 2}, {"tensor", 2}}));
  CHECK(std::get<Permute>(task_of(graph, "send input of part 1 of microbatch 2").work).bytes ==
        2 * 32 * 64 * 2 / 2);
}

TEST_CASE("every schedule computes the model FLOPs of the step and sums all gradients once") {
  for (const PipelineKind kind :
       {PipelineKind::gpipe, PipelineKind::one_forward_one_backward, PipelineKind::interleaved,
        PipelineKind::zero_bubble, PipelineKind::dual_pipe})
    for (const std::uint32_t chunks : {1U, 2U}) {
      if (chunks > 1 && kind != PipelineKind::interleaved) continue;
      const Training training = training_by(kind, chunks);
      const StepGraph graph = training_step(training, two_by_two());
      const Roles roles(graph, 4);
      double flops = 0.0;
      for (TaskId id = 0; id < graph.tasks.size(); ++id)
        if (const auto* work = std::get_if<Computation>(&graph.tasks[id].work))
          flops += work->model_flops * 4 * roles.share_of(id);
      CHECK(flops == Approx(model_flops(training)));
      // DualPipe sums over the pair of stages that have the same weights.
      CHECK(elements(graph, Collective::all_reduce) == 4 * kLayer + 2 * kTable);
      CHECK(count(graph, "optimizer") == 2);
      // Each stage of DualPipe has all of the layers of two stages.
      double parameters = 0.0;
      for (const Buffer& buffer : graph.buffers)
        if (buffer.use == BufferUse::optimizer) parameters += buffer.bytes / training.moment_bytes;
      const double copies = kind == PipelineKind::dual_pipe ? 2.0 : 1.0;
      CHECK(parameters == Approx(copies * workloads::parameters(training.model)));
    }
}

TEST_CASE("late gradients of weights split the backward pass") {
  const StepGraph whole =
      training_step(training_by(PipelineKind::one_forward_one_backward), two_by_two());
  const StepGraph split = training_step(training_by(PipelineKind::zero_bubble), two_by_two());
  const auto operations = [](const StepGraph& graph, const std::string& name) {
    return std::get<Computation>(task_of(graph, name).work).operations.size();
  };
  CHECK(operations(whole, "backward 3 of microbatch 0") ==
        operations(split, "backward 3 of microbatch 0") +
            operations(split, "weight gradients 3 of microbatch 0"));
}

TEST_CASE("a distributed optimizer scatters the gradients of each stage") {
  for (const PipelineKind kind : {PipelineKind::gpipe, PipelineKind::dual_pipe}) {
    Training training = training_by(kind);
    training.distributed_optimizer = true;
    const StepGraph graph = training_step(training, two_by_two());
    CHECK(elements(graph, Collective::reduce_scatter) == 4 * kLayer + 2 * kTable);
    CHECK(elements(graph, Collective::all_gather) == 4 * kLayer + 2 * kTable);
    CHECK(elements(graph, Collective::all_reduce) == 0.0);
  }
}

TEST_CASE("a table of embedding and head is summed over the first and the last stage") {
  Training training = training_by(PipelineKind::gpipe);
  training.model.tied_embeddings = true;
  const StepGraph graph = training_step(training, two_by_two());
  CHECK(elements(graph, Collective::all_reduce) == 4 * kLayer + 3 * kTable);
  const auto& call =
      std::get<CollectiveCall>(task_of(graph, "sum gradients of the table of stages 0 and 1").work);
  CHECK(graph.chip_lists[call.groups.value().lists].lists ==
        std::vector<std::vector<std::uint32_t>>{{0, 2}, {1, 3}});
}

TEST_CASE("pipelines with fsdp, tensor and context axes, offloading and recomputation") {
  Training training = training_by(PipelineKind::one_forward_one_backward);
  training.remat = {.layer_input = Keep::offload, .attention = Keep::recompute};
  training.sequence_parallel = true;
  for (const char* const axis : {"fsdp", "tensor", "context"})
    for (const PipelineKind kind : {PipelineKind::zero_bubble, PipelineKind::dual_pipe}) {
      training.pipeline.schedule = kind;
      CHECK_NOTHROW(training_step(training, lay_mesh({2, 2}, {{axis, 2}, {"pipeline", 2}})));
    }
}

TEST_CASE("impossible pipelines of training name a remedy") {
  Training training = training_by(PipelineKind::gpipe);
  CHECK_THROWS_WITH(training_step(training, lay_mesh({2}, {{"data", 2}})),
                    Catch::Contains("the mesh axis \"pipeline\""));
  CHECK_THROWS_WITH(training_step(training, lay_mesh({8}, {{"pipeline", 8}})),
                    Catch::Contains("at most 4 parts"));
  training.pipeline.schedule = PipelineKind::interleaved;
  CHECK_THROWS_WITH(training_step(training, lay_mesh({3}, {{"pipeline", 3}})),
                    Catch::Contains("use 6"));
  CHECK_NOTHROW(training_step(small_training(), lay_mesh({2}, {{"pipeline", 2}})));
}

}  // namespace
}  // namespace equarx::steps::training_pipeline_test
