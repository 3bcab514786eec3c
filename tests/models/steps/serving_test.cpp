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

TEST_CASE("serving supports three mesh axes") {
  Mesh other = mesh_of(2, 2);
  other.axes[0].name = "fsdp";
  CHECK_THROWS_WITH(serving_step(small_serving(2, 1), other), ContainsSubstring("not 'fsdp'"));
  other.axes[0].name = "expert";
  CHECK_THROWS_WITH(serving_step(small_serving(2, 1), other),
                    ContainsSubstring("axis 'expert' divides experts, and small has none"));
}

/// Decoding of 16 sequences on each of four chips, two of eight experts of every token.
Serving small_experts(std::uint32_t tensor, std::uint32_t chunks) {
  Serving serving;
  serving.model = testing::small_model();
  serving.model.experts = workloads::Experts{.count = 8, .top_k = 2, .ffn = 32, .shared_ffn = 32};
  serving.operations = workloads::phase_operations(
      serving.model, workloads::Decode{.context = 32, .batch = 16}, tensor, {.fused = true},
      workloads::ResidualPlace::hbm, {.chips = 4});
  serving.elements = 16 / chunks * serving.model.d_model;
  serving.chunks = chunks;
  return serving;
}

const Task& task_of(const StepGraph& graph, const std::string& name) {
  for (const Task& task : graph.tasks)
    if (task.name == name) return task;
  throw std::logic_error("no task " + name);
}

TEST_CASE("a layer with experts has two all-to-alls, and shared experts overlap with the first") {
  const Mesh mesh = lay_mesh({4}, {{"expert", 4}});
  const StepGraph graph = serving_step(small_experts(1, 1), mesh);
  CHECK(groups(graph) == std::map<std::string, int>{{"embedding", 1},
                                                    {"attention", 2},
                                                    {"dispatch", 2},
                                                    {"shared experts", 2},
                                                    {"experts", 2},
                                                    {"combine", 2},
                                                    {"head", 1}});
  const auto& call = std::get<CollectiveCall>(task_of(graph, "dispatch, 1").work);
  CHECK(call.collective == collectives::Collective::all_to_all);
  CHECK(call.elements == 16 * 2 * 64);
  CHECK(task_of(graph, "shared experts, 1").after.empty());
  CHECK(graph.tasks[task_of(graph, "experts, 1").after.front()].name == "dispatch, 1");
  CHECK(graph.tasks[task_of(graph, "combine, 1").after.front()].name == "experts, 1");
  CHECK(graph.tasks[task_of(graph, "head").after.front()].name == "combine, 1");
}

TEST_CASE("chunks divide the exchanged rows") {
  const Mesh mesh = lay_mesh({4}, {{"expert", 4}});
  const StepGraph whole = serving_step(small_experts(1, 1), mesh);
  const StepGraph parts = serving_step(small_experts(1, 2), mesh);
  const auto& call = std::get<CollectiveCall>(task_of(parts, "combine, 0, chunk 1").work);
  CHECK(call.elements == 16 * 64);
  CHECK(flops(parts) == Approx(flops(whole)));
}

TEST_CASE("tensor-parallel chips sum both halves of a layer with experts") {
  const Mesh mesh = lay_mesh({4, 2}, {{"expert", 4}, {"tensor", 2}});
  const StepGraph graph = serving_step(small_experts(2, 1), mesh);
  CHECK(groups(graph)["sum activations"] == 4);
  CHECK(groups(graph)["router"] == 2);
  CHECK(groups(graph)["dispatch"] == 2);
}

}  // namespace
}  // namespace equarx::steps::serving_test
