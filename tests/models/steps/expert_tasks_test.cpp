#include "models/steps/expert_tasks.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <variant>

#include "models/steps/mesh_layout.hpp"
#include "models/steps/training.hpp"
#include "tests/catch.hpp"
#include "tests/models/steps/trainings.hpp"

namespace equarx::steps::expert_tasks_test {
namespace {

using collectives::Collective;
using testing::kLayer;
using testing::kTable;
using testing::small_training;

/// Rows of a chip: eight sequences of 32 positions over four chips, two experts of each.
constexpr double kSent = 8 * 32 / 4 * 2 * 64.0;
constexpr double kRouted = 8 * 3 * 64.0 * 32;
constexpr double kRest = 64.0 * 128 + 64 * 64 + 64 * 8 + 2 * 64;

Training training_of_experts() {
  Training training = small_training();
  training.model = testing::small_experts();
  return training;
}

StepGraph step_of(const Training& training) {
  return training_step(training, lay_mesh({4}, {{"expert", 4}}));
}

/// Elements of the collectives of each group.
std::map<std::string, double> elements(const StepGraph& graph) {
  std::map<std::string, double> groups;
  for (const Task& task : graph.tasks)
    if (const auto* call = std::get_if<CollectiveCall>(&task.work))
      groups[task.group] += static_cast<double>(call->elements);
  return groups;
}

TaskId id_of(const StepGraph& graph, const std::string& name) {
  const auto found = std::ranges::find(graph.tasks, name, &Task::name);
  REQUIRE(found != graph.tasks.end());
  return static_cast<TaskId>(found - graph.tasks.begin());
}

double flops(const StepGraph& graph, const std::string& group) {
  double sum = 0.0;
  for (const Task& task : graph.tasks)
    if (const auto* work = std::get_if<Computation>(&task.work); work && task.group == group)
      for (const workloads::Operation& operation : work->operations) sum += operation.flops;
  return sum;
}

TEST_CASE("every token's rows are dispatched and combined, and their gradients") {
  const auto groups = elements(step_of(training_of_experts()));
  for (const char* const group : {"dispatch", "combine", "dispatch gradients", "combine gradients"})
    CHECK(groups.at(group) == kSent);
  Training training = training_of_experts();
  training.remat = kFullRemat;  // repeats both, as the sum reads the results
  const auto again = elements(step_of(training));
  CHECK(again.at("dispatch") == 2 * kSent);
  CHECK(again.at("combine") == 2 * kSent);
  CHECK(again.at("dispatch gradients") == kSent);
  training.remat = kMinimalRemat;
  CHECK(elements(step_of(training)).at("dispatch") == kSent);
  training.microbatches = 2;
  CHECK(elements(step_of(training)).at("dispatch") == kSent);  // two halves
}

TEST_CASE("chips exchange as many rows as the busiest, or as experts have room for") {
  Training training = training_of_experts();
  training.experts.imbalance = 1.5;
  CHECK(elements(step_of(training)).at("combine") == 1.5 * kSent);
  training.experts = {.capacity_factor = 0.5};
  CHECK(elements(step_of(training)).at("combine") == 0.5 * kSent);
}

TEST_CASE("the gradients of experts are not summed over their axis") {
  const StepGraph alone = step_of(training_of_experts());
  const double rest = kLayer + kRest + 2 * kTable;
  CHECK(elements(alone).at("sum gradients") == rest);
  const Mesh mesh = lay_mesh({2, 4}, {{"data", 2}, {"expert", 4}});
  Training training = training_of_experts();
  const StepGraph graph = training_step(training, mesh);
  CHECK(elements(graph).at("sum gradients") == rest + kRouted / 4);
  using Axes = std::vector<std::size_t>;
  const auto axes = [&](const StepGraph& of, const std::string& name) {
    return std::get<CollectiveCall>(of.tasks[id_of(of, name)].work).axes;
  };
  CHECK(axes(graph, "sum gradients to layer 1") == Axes{0, 1});
  CHECK(axes(graph, "sum gradients of experts to layer 1") == Axes{0});
  training.distributed_optimizer = true;
  const StepGraph sharded = training_step(training, mesh);
  CHECK(elements(sharded).at("gather updated weights") == rest + kRouted / 4);
  CHECK(axes(sharded, "gather updated layer 1 to layer 1 of experts") == Axes{0});
}

TEST_CASE("with fsdp other weights are gathered over both axes, experts over fsdp") {
  const Mesh mesh = lay_mesh({2, 4}, {{"fsdp", 2}, {"expert", 4}});
  const StepGraph graph = training_step(training_of_experts(), mesh);
  const auto groups = elements(graph);
  const double rest = kLayer + kRest;
  CHECK(groups.at("gather weights") == 2 * (rest + kRouted / 4) + 2 * kTable);
  CHECK(groups.at("scatter gradients") == rest + kRouted / 4 + 2 * kTable);
  CHECK_FALSE(groups.contains("sum gradients"));
  const auto& call =
      std::get<CollectiveCall>(graph.tasks[id_of(graph, "gather experts of layer 1 forward")].work);
  CHECK(call.axes == std::vector<std::size_t>{0});
  CHECK(call.elements == kRouted / 4);
}

TEST_CASE("the same work as with all experts on all chips") {
  using Case = std::pair<Remat, bool>;
  for (const auto& [remat, post_norms] :
       {Case{{}, false}, Case{kFullRemat, false}, Case{kFullRemat, true}}) {
    Training training = training_of_experts();
    training.remat = remat;
    training.model.post_norms = post_norms;
    const StepGraph divided = step_of(training);
    const StepGraph whole = training_step(training, lay_mesh({4}, {{"data", 4}}));
    for (const char* const group : {"forward", "backward", "recompute"})
      CHECK(flops(divided, group) == Approx(flops(whole, group)));
    double model = 0.0;
    for (const Task& task : divided.tasks)
      if (const auto* work = std::get_if<Computation>(&task.work)) model += work->model_flops;
    CHECK(model == Approx(model_flops(training) / 4));
  }
}

TEST_CASE("an axis of one chip changes nothing") {
  Training training = training_of_experts();
  training.distributed_optimizer = true;
  training.remat = kFullRemat;
  const StepGraph with =
      training_step(training, lay_mesh({2, 1, 2}, {{"data", 2}, {"expert", 1}, {"fsdp", 2}}));
  const StepGraph without = training_step(training, lay_mesh({2, 2}, {{"data", 2}, {"fsdp", 2}}));
  REQUIRE(with.tasks.size() == without.tasks.size());
  for (TaskId id = 0; id < with.tasks.size(); ++id) {
    const Task& one = with.tasks[id];
    const Task& other = without.tasks[id];
    CHECK(one.name == other.name);
    CHECK(one.after == other.after);
    REQUIRE(one.work.index() == other.work.index());
    if (const auto* call = std::get_if<CollectiveCall>(&one.work))
      CHECK(call->elements == std::get<CollectiveCall>(other.work).elements);
    if (const auto* work = std::get_if<Computation>(&one.work)) {
      const auto& same = std::get<Computation>(other.work);
      REQUIRE(work->operations.size() == same.operations.size());
      for (std::size_t i = 0; i < same.operations.size(); ++i)
        CHECK(work->operations[i].hbm_bytes() == same.operations[i].hbm_bytes());
    }
  }
  REQUIRE(with.buffers.size() == without.buffers.size());
  for (std::size_t i = 0; i < with.buffers.size(); ++i)
    CHECK(with.buffers[i].bytes == without.buffers[i].bytes);
}

TEST_CASE("shared experts run during the dispatch") {
  Training training = training_of_experts();
  training.model.experts->shared_ffn = 32;
  const StepGraph graph = step_of(training);
  const TaskId shared = id_of(graph, "forward 1, shared experts");
  CHECK(graph.tasks[shared].after == std::vector{id_of(graph, "forward 1")});
  CHECK(graph.tasks[id_of(graph, "forward 1, experts")].after ==
        std::vector{id_of(graph, "dispatch of forward 1")});
  CHECK(graph.tasks[id_of(graph, "forward 1, sum")].after ==
        std::vector{id_of(graph, "combine of forward 1"), shared});
}

TEST_CASE("chips of a tensor group dispatch all their rows, or those of their positions") {
  Training training = training_of_experts();
  const Mesh mesh = lay_mesh({4, 2}, {{"expert", 4}, {"tensor", 2}});
  const auto whole = elements(training_step(training, mesh));
  CHECK(whole.at("dispatch") == kSent);
  CHECK_FALSE(whole.contains("gather rows"));
  training.sequence_parallel = true;
  const StepGraph graph = training_step(training, mesh);
  const auto groups = elements(graph);
  CHECK(groups.at("dispatch") == kSent / 2);
  CHECK(groups.at("gather rows") == 2 * kSent);  // forward, and the gradients of results
  CHECK(groups.at("scatter rows") == 2 * kSent);
  // Positions of attention in both passes and its kept input, of the dense FFN likewise.
  CHECK(groups.at("gather activations") == (2 * 3 + 3) * 8 * 32 / 4 * 64);
  training.model.experts->shared_ffn = 32;
  CHECK(elements(training_step(training, mesh)).at("gather activations") ==
        (2 * 3 + 3 + 3) * 8 * 32 / 4 * 64);
  // Before a post-norm the recomputed results of the dense FFN and of shared experts are scattered.
  training.remat.ffn_in = Keep::recompute;
  const auto scattered = [&] {
    return elements(training_step(training, mesh)).at("scatter activations");
  };
  const double without = scattered();
  training.model.post_norms = true;
  CHECK(scattered() == without + 2 * 8 * 32 / 4 * 64);
}

TEST_CASE("alternating passes of DualPipe are written between the exchanges of the other") {
  Training training = training_of_experts();
  training.model.layers = 4;
  training.microbatches = 8;
  training.batch = 32;
  training.pipeline.schedule = PipelineKind::dual_pipe;
  const StepGraph graph =
      training_step(training, lay_mesh({2, 4}, {{"pipeline", 2}, {"expert", 4}}));
  const auto name_of = [&](TaskId id) { return graph.tasks[id].name; };
  // Between a dispatch and its experts on the core, a part of another pass.
  int overlapped = 0;
  for (TaskId id = 0; id < graph.tasks.size(); ++id) {
    if (graph.tasks[id].group != "dispatch") continue;
    const std::string pass = name_of(id).substr(std::string("dispatch of ").size());
    const TaskId experts = id_of(graph, pass + ", experts");
    for (TaskId other = id + 1; other < experts; ++other)
      if (graph.tasks[other].group == "backward") ++overlapped;
  }
  CHECK(overlapped > 0);
  CHECK(elements(graph).at("sum gradients") ==
        Approx(2 * (kLayer + 3 * kRest + 2 * kTable) / 2 + 3 * kRouted / 4));
}

TEST_CASE("impossible divisions of experts name a remedy") {
  Training training = training_of_experts();
  training.batch = 9;
  CHECK_THROWS_WITH(training_step(training, lay_mesh({3}, {{"expert", 3}})),
                    Catch::Contains("8 experts of small cannot be divided over 3 chips; use 1, 2, "
                                    "4, 8"));
  CHECK_THROWS_WITH(step_of(training), Catch::Contains("x expert 4); use a multiple of 4"));
  CHECK_THROWS_WITH(step_of(small_training()),
                    Catch::Contains("axis \"expert\" divides experts, and small has none"));
}

}  // namespace
}  // namespace equarx::steps::expert_tasks_test
