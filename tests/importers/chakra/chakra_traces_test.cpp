#include "importers/chakra/chakra_traces.hpp"

#include <vector>

#include "models/steps/mesh_layout.hpp"
#include "tests/catch.hpp"

namespace equarx::steps::chakra_traces_test {
namespace {

using chakra::NodeKind;

const Mesh& mesh() {
  static const Mesh kMesh =
      lay_mesh({2, 4}, {{.name = "data", .length = 2}, {.name = "model", .length = 4}});
  return kMesh;
}

/// Computes, gathers along "model", sums over all, and stores.
StepGraph graph() {
  StepGraph made;
  const StreamId core = stream_id(made, "core");
  const StreamId links = stream_id(made, "links");
  Computation work;
  work.operations.push_back(
      {.name = "x", .flops = 1e9, .vector_ops = 5.0, .read_bytes = 1e6, .times = 3});
  made.tasks.push_back({.name = "a", .group = "a", .stream = core, .work = work, .after = {}});
  CollectiveCall call{
      .collective = collectives::Collective::all_gather, .axes = {1}, .elements = 64};
  made.tasks.push_back({.name = "b", .group = "b", .stream = links, .work = call, .after = {0}});
  call = {.collective = collectives::Collective::all_reduce, .axes = {0, 1}, .elements = 64};
  call.dtype = numerics::ElementFormat::fp32;
  made.tasks.push_back({.name = "c", .group = "c", .stream = links, .work = call, .after = {0}});
  made.tasks.push_back({.name = "d",
                        .group = "d",
                        .stream = core,
                        .work = HostTransfer{HostTransfer::Direction::to_host, 7.0},
                        .after = {2}});
  return made;
}

TEST_CASE("groups are numbered from 1, except the group of all chips") {
  const ChakraGroups groups = chakra_groups(graph(), mesh());
  CHECK(groups == ChakraGroups{{"1", {0, 1, 2, 3}}, {"2", {4, 5, 6, 7}}});
}

TEST_CASE("nodes have the sizes ASTRA-sim expects, and depend on their streams too") {
  const std::vector<double> core_s = {2e-5, 0.0, 0.0, 0.0};
  const chakra::Trace trace = chakra_trace(graph(), mesh(), core_s, 5);
  REQUIRE(trace.nodes.size() == 4);
  CHECK(trace.nodes[0].kind == NodeKind::compute);
  CHECK(trace.nodes[0].operations == 3e9);
  CHECK(trace.nodes[0].bytes == 3e6);
  CHECK(trace.nodes[0].duration_s == 2e-5);
  CHECK(trace.nodes[1].bytes == 64 * 2 / 4.0);
  CHECK(trace.nodes[1].group == "2");
  CHECK(trace.nodes[1].collective == chakra::CollectiveKind::all_gather);
  CHECK(trace.nodes[2].bytes == 64 * 4.0);
  CHECK(trace.nodes[2].group.empty());
  CHECK(trace.nodes[2].after.size() == 2);  // explicit dependency and previous task of the stream
  CHECK(trace.nodes[3].kind == NodeKind::store);
  CHECK(trace.nodes[3].bytes == 7.0);
  CHECK(chakra_trace(graph(), mesh(), core_s, 0).nodes[1].group == "1");
}

TEST_CASE("listed groups are process groups in rank order") {
  StepGraph made = graph();
  made.chip_lists.push_back({"pairs", {{0, 5}, {7, 1}, {2, 3}, {4, 6}}});
  made.tasks[1].work = CollectiveCall{.groups = ListedGroups{0, 2}, .elements = 64};
  const ChakraGroups groups = chakra_groups(made, mesh());
  CHECK(groups.at("2") == std::vector<std::uint32_t>{7, 1});
  CHECK(chakra_trace(made, mesh(), std::vector<double>(4), 1).nodes[1].group == "2");
}

TEST_CASE("a permute is a send and a receive, and later tasks depend on both") {
  StepGraph made = graph();
  made.chip_lists.push_back({"shift", {{0, 1}, {1, 2}}});
  made.tasks[1].work = Permute{0, 99};
  const auto nodes_of = [&](std::uint32_t chip) {
    return chakra_trace(made, mesh(), std::vector<double>(4), chip).nodes;
  };
  const std::vector<chakra::Node> both = nodes_of(1);
  REQUIRE(both.size() == 5);
  CHECK(both[1].kind == NodeKind::send);
  CHECK((both[1].source == 1 && both[1].destination == 2 && both[1].bytes == 99.0));
  CHECK(both[2].kind == NodeKind::receive);
  CHECK((both[2].source == 0 && both[2].destination == 1 && both[2].tag == both[1].tag));
  CHECK(both[2].id == 5);
  CHECK(both[3].after == std::vector<std::uint64_t>{0, 1, 5});  // same stream
  const std::vector<chakra::Node> last = nodes_of(2);
  REQUIRE(last.size() == 4);
  CHECK((last[1].kind == NodeKind::receive && last[1].id == 1 && last[1].tag == both[1].tag));
  CHECK(nodes_of(3).size() == 3);  // neither sends nor receives
}

TEST_CASE("chips have the nodes of the tasks that they run, or an empty one") {
  StepGraph made = graph();
  made.chip_lists = {{"first", {{0}}}, {"pairs", {{0, 1}}}};
  made.tasks[1] = {
      .name = "b", .group = "b", .stream = 1, .work = Permute{1, 99, false}, .after = {0}};
  made.tasks[2] = {.name = "c", .group = "c", .stream = 0, .work = Receive{1}, .after = {}};
  made.tasks[0].chips = 0;
  made.tasks[3].chips = 0;
  const auto nodes_of = [&](std::uint32_t chip) {
    return chakra_trace(made, mesh(), std::vector<double>(4), chip).nodes;
  };
  REQUIRE(nodes_of(0).size() == 3);
  CHECK(nodes_of(0)[1].kind == NodeKind::send);
  REQUIRE(nodes_of(1).size() == 1);
  CHECK(nodes_of(1)[0].kind == NodeKind::receive);
  CHECK((nodes_of(1)[0].source == 0 && nodes_of(1)[0].tag == 1 && nodes_of(1)[0].bytes == 99.0));
  CHECK(nodes_of(1)[0].after.empty());
  REQUIRE(nodes_of(2).size() == 1);
  CHECK((nodes_of(2)[0].kind == NodeKind::compute && nodes_of(2)[0].operations == 0.0));
}

}  // namespace
}  // namespace equarx::steps::chakra_traces_test
