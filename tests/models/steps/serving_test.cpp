#include "models/steps/serving.hpp"

#include <map>
#include <string>
#include <variant>

#include "models/steps/mesh_layout.hpp"
#include "tests/catch.hpp"
#include "tests/models/steps/trainings.hpp"

namespace equarx::steps::serving_test {
namespace {

Mesh mesh_of(std::uint32_t data, std::uint32_t tensor) {
  return lay_mesh({data, tensor}, {{"data", data}, {"tensor", tensor}});
}

/// A prefill of 32 positions on `tensor` chips.
Serving small_serving(std::uint32_t tensor, std::uint32_t chunks) {
  Serving serving;
  serving.model = testing::small_model();
  serving.operations = workloads::phase_operations(
      serving.model, workloads::Prefill{.tokens = 32, .batch = 1}, tensor, {.fused = true});
  serving.elements = 32 / chunks * serving.model.d_model;
  serving.chunks = chunks;
  return serving;
}

double flops(const StepGraph& graph) {
  double sum = 0.0;
  for (const Task& task : graph.tasks)
    if (const auto* work = std::get_if<Computation>(&task.work))
      for (const workloads::Operation& operation : work->operations) sum += operation.flops;
  return sum;
}

std::map<std::string, int> groups(const StepGraph& graph) {
  std::map<std::string, int> count;
  for (const Task& task : graph.tasks) ++count[task.group];
  return count;
}

TEST_CASE("a layer has two AllReduces, after attention and after the FFN") {
  const StepGraph graph = serving_step(small_serving(2, 1), mesh_of(4, 2));
  CHECK(groups(graph) ==
        std::map<std::string, int>{
            {"embedding", 1}, {"attention", 2}, {"FFN", 2}, {"sum activations", 4}, {"head", 1}});
  CHECK(graph.streams == std::vector<std::string>{"core", "tensor"});
  for (const Task& task : graph.tasks)
    if (const auto* call = std::get_if<CollectiveCall>(&task.work)) {
      CHECK(call->collective == collectives::Collective::all_reduce);
      CHECK(call->axes == std::vector<std::size_t>{1});
      CHECK(call->elements == 32 * 64);
    }
  // Each task waits for the previous one.
  for (TaskId id = 1; id < graph.tasks.size(); ++id)
    CHECK(graph.tasks[id].after == std::vector<TaskId>{id - 1});
}

TEST_CASE("chunks are separate tasks with the same total work that join at the head") {
  const StepGraph whole = serving_step(small_serving(2, 1), mesh_of(1, 2));
  const StepGraph parts = serving_step(small_serving(2, 4), mesh_of(1, 2));
  CHECK(groups(parts)["sum activations"] == 16);
  CHECK(groups(parts)["head"] == 1);
  CHECK(parts.tasks.back().after.size() == 4);
  CHECK(flops(parts) == Approx(flops(whole)));
  for (const Task& task : parts.tasks)
    if (const auto* call = std::get_if<CollectiveCall>(&task.work)) CHECK(call->elements == 8 * 64);
}

TEST_CASE("on one chip a layer is a task without communication") {
  const StepGraph graph = serving_step(small_serving(1, 1), mesh_of(2, 1));
  CHECK(groups(graph) == std::map<std::string, int>{{"embedding", 1}, {"layer", 2}, {"head", 1}});
}

TEST_CASE("serving supports two mesh axes") {
  Mesh other = mesh_of(2, 2);
  other.axes[0].name = "fsdp";
  CHECK_THROWS_WITH(serving_step(small_serving(2, 1), other), ContainsSubstring("not 'fsdp'"));
}

}  // namespace
}  // namespace equarx::steps::serving_test
