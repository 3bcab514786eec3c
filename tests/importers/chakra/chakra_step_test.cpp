#include "importers/chakra/chakra_step.hpp"

#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "importers/chakra/chakra_traces.hpp"
#include "models/steps/mesh_layout.hpp"
#include "models/steps/training.hpp"
#include "tests/catch.hpp"
#include "tests/models/steps/trainings.hpp"

namespace equarx::steps::chakra_step_test {
namespace {

using chakra::CollectiveKind;
using chakra::Node;
using chakra::NodeKind;
using chakra::Trace;

Node compute(std::uint64_t id, std::vector<std::uint64_t> after = {}) {
  Node node{.id = id, .name = "layer " + std::to_string(id), .kind = NodeKind::compute};
  node.after = std::move(after);
  node.operations = 1e9;
  node.bytes = 1e6;
  node.duration_s = 5e-6;
  return node;
}

Node collective(std::uint64_t id, CollectiveKind kind, std::vector<std::uint64_t> after = {}) {
  Node node{.id = id, .name = "sum " + std::to_string(id), .kind = NodeKind::collective};
  node.after = std::move(after);
  node.collective = kind;
  node.bytes = 4096;
  return node;
}

/// One trace for all eight chips.
ChakraTraces traces(std::vector<Node> nodes) {
  return {.chips = {{.version = "", .nodes = std::move(nodes)}}, .devices = 8, .groups = {}};
}

Mesh mesh_of(std::vector<std::uint32_t> lengths) { return lay_mesh(lengths, named_axes(lengths)); }

const CollectiveCall& call(const ChakraStep& step, std::size_t task) {
  return std::get<CollectiveCall>(step.graph.tasks.at(task).work);
}

TEST_CASE("nodes become tasks with the same dependencies") {
  const ChakraStep step =
      chakra_step(traces({compute(0), collective(1, CollectiveKind::all_reduce, {0}),
                          compute(2, {0}), compute(3, {1, 2})}),
                  mesh_of({8}));
  REQUIRE(step.graph.tasks.size() == 4);
  CHECK(step.graph.streams == std::vector<std::string>{"core", "sum"});
  CHECK(step.graph.tasks[3].after == std::vector<TaskId>{1, 2});
  CHECK(step.graph.tasks[1].group == "sum");
  const auto& work = std::get<Computation>(step.graph.tasks[0].work);
  CHECK(work.operations.front().flops == 1e9);
  CHECK(work.operations.front().hbm_bytes() == 1e6);
  CHECK(work.seconds == 0.0);
  CHECK(work.model_flops == 1e9);
  CHECK(call(step, 1).elements == 2048);
  CHECK(step.notes.empty());
}

TEST_CASE("comm_size is the input per chip of an AllGather, and the whole tensor otherwise") {
  for (const auto& [kind, elements] : {std::pair{CollectiveKind::all_gather, 8 * 2048},
                                       {CollectiveKind::reduce_scatter, 2048},
                                       {CollectiveKind::all_to_all, 2048},
                                       {CollectiveKind::broadcast, 2048}}) {
    const ChakraStep step = chakra_step(traces({collective(0, kind)}), mesh_of({8}));
    CHECK(call(step, 0).elements == static_cast<std::uint64_t>(elements));
    CHECK(step.collectives.at(0).bytes == 2.0 * elements);
    CHECK(step.collectives.at(0).imported.can_quantize);
  }
  const ChakraStep wide = chakra_step(traces({collective(0, CollectiveKind::all_reduce)}),
                                      mesh_of({8}), {.dtype = numerics::ElementFormat::fp32});
  CHECK(call(wide, 0).elements == 1024);
}

TEST_CASE("computations take their recorded time on request, or if there is nothing else") {
  Node timed = compute(1);
  timed.operations = timed.bytes = 0.0;
  const auto seconds = [&](const Node& node, bool recorded) {
    const ChakraStep step = chakra_step(traces({node}), mesh_of({8}), {.recorded_times = recorded});
    return std::get<Computation>(step.graph.tasks[0].work).seconds;
  };
  CHECK(seconds(compute(0), false) == 0.0);
  CHECK(seconds(compute(0), true) == 5e-6);
  CHECK(seconds(timed, false) == 5e-6);
}

TEST_CASE("unsupported nodes take no time, are counted, and forward their dependencies") {
  Node host = compute(2, {0});
  host.on_host = true;
  Node group{.id = 3, .kind = NodeKind::metadata, .after = {2}};
  Node reduce = collective(4, CollectiveKind::reduce, {3});
  const ChakraStep step =
      chakra_step(traces({compute(0), host, group, reduce, compute(5, {4})}), mesh_of({8}));
  REQUIRE(step.graph.tasks.size() == 2);
  CHECK(step.graph.tasks[1].after == std::vector<TaskId>{0});
  CHECK(step.notes.size() == 1);
  CHECK(step.collectives.at(0).imported.skip_reason == "unsupported kind");
}

TEST_CASE("loads and stores become host transfers") {
  Node load{.id = 0, .name = "weights", .kind = NodeKind::load};
  load.bytes = 1e6;
  Node store{.id = 1, .name = "", .kind = NodeKind::store};
  store.bytes = 2e6;
  const ChakraStep step = chakra_step(traces({load, store}), mesh_of({8}));
  CHECK(std::get<HostTransfer>(step.graph.tasks[0].work).direction ==
        HostTransfer::Direction::from_host);
  CHECK(std::get<HostTransfer>(step.graph.tasks[1].work).bytes == 2e6);
  CHECK(step.graph.tasks[1].name == "to-host");
}

/// Eight chips that sum over groups: group name by chip.
ChakraTraces grouped(const std::vector<std::string>& group_of_chip, ChakraGroups groups) {
  ChakraTraces all{.chips = {}, .devices = 8, .groups = std::move(groups)};
  for (const std::string& group : group_of_chip) {
    Node node = collective(0, CollectiveKind::all_reduce);
    node.group = group;
    all.chips.push_back({.version = "", .nodes = {node}});
  }
  return all;
}

TEST_CASE("groups of chips become axes of a mesh") {
  const ChakraTraces rows =
      grouped({"1", "1", "1", "1", "2", "2", "2", "2"}, {{"1", {0, 1, 2, 3}}, {"2", {7, 6, 5, 4}}});
  const std::vector<MeshAxis> axes = axes_for(rows);
  REQUIRE(axes.size() == 2);
  CHECK(axes[1].length == 4);
  const ChakraStep step = chakra_step(rows, mesh_of({2, 4}));
  CHECK(call(step, 0).axes == std::vector<std::size_t>{1});
  CHECK(step.collectives[0].chips == 4);
  const ChakraTraces columns =
      grouped({"1", "2", "3", "4", "1", "2", "3", "4"},
              {{"1", {0, 4}}, {"2", {1, 5}}, {"3", {2, 6}}, {"4", {3, 7}}});
  CHECK(call(chakra_step(columns, mesh_of({2, 4})), 0).axes == std::vector<std::size_t>{0});
  const ChakraTraces odd =
      grouped({"1", "1", "1", "2", "2", "2", "2", "2"}, {{"1", {0, 1, 2}}, {"2", {3, 4, 5, 6, 7}}});
  const ChakraStep apart = chakra_step(odd, mesh_of({2, 4}));  // each group for itself
  REQUIRE(apart.graph.tasks.size() == 2);
  CHECK(call(apart, 0).groups->size == 3);
  CHECK(call(apart, 1).groups->size == 5);
}

TEST_CASE("dimensions of a network are axes, the last first") {
  Node node = collective(0, CollectiveKind::all_reduce);
  node.dimensions = {true, false};
  CHECK(call(chakra_step(traces({node}), mesh_of({2, 4})), 0).axes == std::vector<std::size_t>{1});
  node.dimensions = {false, true, true, true};
  CHECK(call(chakra_step(traces({node}), mesh_of({2, 4})), 0).axes == std::vector<std::size_t>{0});
  node.dimensions = {true, true, true, true};
  CHECK(call(chakra_step(traces({node}), mesh_of({2, 4})), 0).axes ==
        std::vector<std::size_t>{0, 1});
}

TEST_CASE("messages become permutes and receives, and chips that differ have tasks of their own") {
  ChakraTraces all{.chips = {}, .devices = 8, .groups = {}};
  for (std::uint32_t chip = 0; chip < 8; ++chip) {
    Node send{.id = 1, .name = "pass", .kind = NodeKind::send, .after = {0}};
    send.destination = (chip + 1) % 8;
    Node receive{.id = 2, .name = "take", .kind = NodeKind::receive, .after = {1}};
    receive.source = (chip + 7) % 8;
    send.bytes = receive.bytes = 1024.0;
    all.chips.push_back({.version = "", .nodes = {compute(0), send, receive}});
  }
  Node more = compute(3, {2});
  all.chips[5].nodes.push_back(more);
  const ChakraStep step = chakra_step(all, mesh_of({8}));
  REQUIRE(step.graph.tasks.size() == 4);
  const auto& permute = std::get<Permute>(step.graph.tasks[1].work);
  CHECK(permute.bytes == 1024);
  CHECK_FALSE(permute.waits);
  CHECK(step.graph.chip_lists[permute.pairs].lists.size() == 8);
  CHECK(std::get<Receive>(step.graph.tasks[2].work).permute == 1);
  CHECK(step.graph.tasks[2].after == std::vector<TaskId>{1});
  REQUIRE(step.graph.tasks[3].chips.has_value());
  CHECK(step.graph.chip_lists[*step.graph.tasks[3].chips].lists ==
        std::vector<std::vector<std::uint32_t>>{{5}});
  CHECK(step.collectives.at(0).kind == "send");
  CHECK(step.collectives.at(0).chips == 8);
  validate(step.graph);
}

TEST_CASE("a barrier is a sum of one element") {
  const ChakraStep step =
      chakra_step(traces({collective(0, CollectiveKind::barrier)}), mesh_of({8}));
  CHECK(call(step, 0).elements == 1);
  CHECK(call(step, 0).collective == collectives::Collective::all_reduce);
}

TEST_CASE("equal collectives of all layers share an entry, others have distinct names") {
  const ChakraStep step = chakra_step(
      traces({collective(0, CollectiveKind::all_reduce), collective(1, CollectiveKind::all_reduce),
              collective(2, CollectiveKind::all_gather)}),
      mesh_of({8}));
  REQUIRE(step.collectives.size() == 2);
  CHECK(step.collectives[0].times == 2.0);
  CHECK(step.collectives[1].imported.group == "sum'");
}

TEST_CASE("invalid traces are rejected") {
  const auto rejected = [](const ChakraTraces& what, const std::string& part) {
    CHECK_THROWS_WITH(chakra_step(what, mesh_of({8})), ContainsSubstring(part));
    CHECK_THROWS_AS(chakra_step(what, mesh_of({8})), std::invalid_argument);
  };
  rejected(traces({}), "no nodes");
  rejected(traces({compute(3), compute(3)}), "duplicate node id");
  rejected(traces({compute(3, {4})}), "node 3 ('layer 3') waits for node 4, which does not exist");
  rejected(traces({compute(3, {4}), compute(4, {3})}), "waits for itself");
  rejected(traces({{.id = 0, .kind = NodeKind::metadata}}), "nothing in the trace takes time");
  ChakraTraces two = grouped({"", ""}, {});
  two.devices = 2;
  two.chips[1].nodes[0].bytes = 1.0;
  rejected(two, "chip 1, node 0 ('sum 0') is all-reduce of 1 B, but in its place chip 0, node 0");
  two.chips[1].nodes.clear();
  rejected(two, "the trace of chip 1 has no nodes");
  rejected(grouped({"1"}, {{"1", {0, 9}}}),
           "group '1' contains chip 9, but chips are numbered 0 to 7");
}

TEST_CASE("an exported step is imported with the same work and groups") {
  Training training = testing::small_training();
  training.batch = 16;
  const std::vector<std::uint32_t> machine = {4, 2};
  const Mesh mesh =
      lay_mesh(machine, {{.name = "fsdp", .length = 4}, {.name = "tensor", .length = 2}});
  const StepGraph graph = training_step(training, mesh);
  const std::vector<double> core_s(graph.tasks.size(), 1e-5);
  ChakraTraces written{.chips = {}, .devices = 8, .groups = chakra_groups(graph, mesh)};
  for (std::uint32_t chip = 0; chip < 8; ++chip)
    written.chips.push_back(chakra_trace(graph, mesh, core_s, chip));
  CHECK(written.groups.size() == 2 + 4);
  const ChakraStep read = chakra_step(written, mesh);
  REQUIRE(read.graph.tasks.size() == graph.tasks.size());
  CHECK(read.notes.empty());
  // Tasks are in id order, because none waits for a later one.
  for (std::size_t i = 0; i < graph.tasks.size(); ++i) {
    const Task& was = graph.tasks[i];
    const Task& is = read.graph.tasks[i];
    CHECK(is.name == was.name);
    if (const auto* call = std::get_if<CollectiveCall>(&was.work))
      CHECK(std::get<CollectiveCall>(is.work) == *call);
    if (const auto* work = std::get_if<Computation>(&was.work)) {
      double flops = 0.0;
      for (const workloads::Operation& operation : work->operations) flops += operation.flops;
      CHECK(std::get<Computation>(is.work).operations.front().flops == Approx(flops));
    }
  }
}

}  // namespace
}  // namespace equarx::steps::chakra_step_test
