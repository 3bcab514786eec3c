#include "models/steps/live_memory.hpp"

#include "tests/catch.hpp"

namespace equarx::steps::live_memory_test {
namespace {

/// Three core tasks, the last two with a transfer between them in the list.
StepGraph three_tasks() {
  StepGraph graph;
  graph.streams = {"core", "to host"};
  graph.tasks = {
      {.name = "a", .group = "a", .work = Computation{}, .after = {}},
      {.name = "b", .group = "b", .work = Computation{}, .after = {}},
      {.name = "transfer", .group = "t", .stream = 1, .work = HostTransfer{}, .after = {}},
      {.name = "c", .group = "c", .work = Computation{}, .after = {}}};
  return graph;
}

TEST_CASE("the peak is at the task during which most is alive, with its parts") {
  StepGraph graph = three_tasks();
  graph.buffers = {{BufferUse::weights, 10.0, 0, 3},
                   {BufferUse::activations, 5.0, 0, 0},
                   {BufferUse::activations, 7.0, 1, 1},
                   {BufferUse::logits, 3.0, 0, 1}};
  const LiveMemory peak = peak_memory(graph);
  CHECK(peak.task == "b");
  CHECK(peak.weights == 10.0);
  CHECK(peak.activations == 7.0);
  CHECK(peak.logits == 3.0);
  CHECK(peak.total() == 20.0);
}

TEST_CASE("a buffer that ends with a transfer is alive during the next core task") {
  StepGraph graph = three_tasks();
  graph.buffers = {{BufferUse::gradients, 1.0, 1, 2}, {BufferUse::gathered, 1.0, 3, 3}};
  CHECK(peak_memory(graph).task == "c");
  CHECK(peak_memory(graph).total() == 2.0);
  graph.buffers[0].last = 1;
  CHECK(peak_memory(graph).total() == 1.0);
}

TEST_CASE("the first of several equal tasks, and no memory without buffers") {
  StepGraph graph = three_tasks();
  CHECK(peak_memory(graph).total() == 0.0);
  graph.buffers = {{BufferUse::optimizer, 2.0, 0, 3}};
  CHECK(peak_memory(graph).task == "a");
  CHECK(peak_memory(graph).optimizer == 2.0);
  graph.tasks = {graph.tasks[2]};
  CHECK_THROWS_AS(peak_memory(graph), std::logic_error);
}

}  // namespace
}  // namespace equarx::steps::live_memory_test
