#include "importers/hlo/hlo_step.hpp"

#include "importers/hlo/parser.hpp"
#include "models/steps/mesh_layout.hpp"
#include "tests/catch.hpp"

namespace equarx::steps::hlo_step_test {
namespace {

/// A program for 8 chips with these lines in its entry; %p is f32[64], %x is bf16[64].
hlo::Flow flow(const std::string& lines, const std::string& before = "") {
  return hlo::make_flow(hlo::parse_module(
      "HloModule m, is_scheduled=true, num_partitions=8\n%add (a: f32[], b: f32[]) -> f32[] {\n"
      "  %a = f32[] parameter(0)\n  %b = f32[] parameter(1)\n  ROOT %c = f32[] add(%a, %b)\n}\n" +
      before +
      "ENTRY %main () -> f32[64] {\n  %p = f32[64] parameter(0)\n  %x = bf16[64] parameter(1)\n" +
      lines + "}\n"));
}

Mesh mesh_of(const hlo::Flow& flow) { return lay_mesh({2, 4}, axes_for(flow, 8)); }

const std::string kRows = ", channel_id=1, replica_groups=[2,4]<=[8], use_global_device_ids=true";
const std::string kColumns =
    ", channel_id=1, replica_groups=[4,2]<=[2,4]T(1,0), use_global_device_ids=true";

std::vector<std::string> names(const StepGraph& graph, const std::vector<TaskId>& ids) {
  std::vector<std::string> found;
  for (const TaskId id : ids) found.push_back(graph.tasks[id].name);
  return found;
}

const Task& task(const StepGraph& graph, const std::string& name) {
  for (const Task& one : graph.tasks)
    if (one.name == name) return one;
  throw std::logic_error("no task " + name);
}

TEST_CASE("groups become axes of a mesh, from the slowest") {
  const hlo::Flow both = flow("  %r = f32[64] all-reduce(%p), to_apply=%add" + kRows +
                              "\n  %s = f32[64] all-reduce(%r), to_apply=%add" + kColumns + "\n");
  const std::vector<MeshAxis> axes = axes_for(both, 8);
  REQUIRE(axes.size() == 2);
  CHECK(axes[0].name == "axis0");
  CHECK(axes[0].length == 2);
  CHECK(axes[1].length == 4);
  CHECK(axes_for(flow("  %n = f32[64] negate(%p)\n"), 8).front().name == "chips");
  const HloStep step = hlo_step(both, mesh_of(both));
  CHECK(step.collectives[0].call.axes == std::vector<std::size_t>{1});
  CHECK(step.collectives[1].call.axes == std::vector<std::size_t>{0});
  CHECK(step.graph.streams == std::vector<std::string>{"axis1", "axis0"});
  CHECK(names(step.graph, step.graph.tasks[1].after) == std::vector<std::string>{"r 0"});
}

TEST_CASE("an asynchronous collective overlaps with the work between start and done") {
  const hlo::Flow made =
      flow("  %b = f32[64] abs(%p)\n  %s = f32[64] all-reduce-start(%b), to_apply=%add" + kRows +
           "\n  %n = f32[64] negate(%p)\n  %d = f32[64] all-reduce-done(%s)\n  %e = f32[64] "
           "negate(%d)\n");
  const StepGraph graph =
      hlo_step(made, lay_mesh({2, 4}, {{.name = "a", .length = 2}, {.name = "b", .length = 4}}))
          .graph;
  REQUIRE(graph.tasks.size() == 4);
  CHECK(names(graph, task(graph, "s 0").after) == std::vector<std::string>{"compute 0"});
  CHECK(task(graph, "compute 1").after.empty());
  CHECK(names(graph, task(graph, "compute 2").after) == std::vector<std::string>{"s 0"});
  CHECK_NOTHROW(validate(graph));
}

TEST_CASE("work between two collectives is one task with several operations") {
  const hlo::Flow made = flow(
      "  %b = f32[64] abs(%p)\n  %n = f32[64] negate(%b)\n  %r = f32[64] all-reduce(%n), "
      "to_apply=%add" +
      kRows + "\n");
  const StepGraph graph =
      hlo_step(made, lay_mesh({2, 4}, {{.name = "a", .length = 2}, {.name = "b", .length = 4}}))
          .graph;
  REQUIRE(graph.tasks.size() == 2);
  const auto& work = std::get<Computation>(graph.tasks[0].work);
  REQUIRE(work.operations.size() == 2);
  CHECK(work.operations[0].vector_ops == 64.0);
  CHECK(work.operations[0].hbm_bytes() == 512.0);
  CHECK(std::get<CollectiveCall>(graph.tasks[1].work).elements == 64);
}

TEST_CASE("a loop is unrolled, and its collectives share a group") {
  const hlo::Flow made = flow(
      "  %w = f32[64] while(%p), condition=%cond, body=%body, "
      "backend_config={\"known_trip_count\":{\"n\":\"3\"}}\n",
      "%cond (c: f32[64]) -> pred[] {\n  %c = f32[64] parameter(0)\n  ROOT %t = pred[] "
      "constant(true)\n}\n"
      "%body (q: f32[64]) -> f32[64] {\n  %q = f32[64] parameter(0)\n  %n = f32[64] negate(%q)\n"
      "  ROOT %r = f32[64] all-reduce(%n), to_apply=%add" +
          kRows + "\n}\n");
  const StepGraph graph = hlo_step(made, mesh_of(made)).graph;
  REQUIRE(graph.tasks.size() == 6);
  CHECK(graph.tasks[3].group == graph.tasks[1].group);
  CHECK(names(graph, task(graph, "compute 2").after) == std::vector<std::string>{"r 1"});
}

TEST_CASE("element types, and which of them can be quantized") {
  const std::string max =
      "%max (a.2: f32[], b.2: f32[]) -> f32[] {\n  %a.2 = f32[] parameter(0)\n  %b.2 = f32[] "
      "parameter(1)\n"
      "  ROOT %m = f32[] maximum(%a.2, %b.2)\n}\n";
  const auto imported = [&](const std::string& type, const std::string& opcode,
                            const std::string& by) {
    const hlo::Flow made = flow("  %v = " + type + "[64] parameter(2)\n  %r = " + type + "[64] " +
                                    opcode + "(%v)" + by + kRows + "\n",
                                max);
    return hlo_step(made, mesh_of(made)).collectives.front();
  };
  CHECK(imported("bf16", "all-reduce", ", to_apply=%add").can_quantize);
  CHECK_FALSE(imported("bf16", "all-reduce", ", to_apply=%max").can_quantize);
  CHECK(imported("f32", "all-gather", "").can_quantize);
  CHECK(imported("f16", "all-to-all", "").call.dtype == numerics::ElementFormat::fp16);
  CHECK(imported("f16", "all-to-all", "").can_quantize);
  const ImportedCollective whole = imported("s32", "all-reduce", ", to_apply=%add");
  CHECK_FALSE(whole.can_quantize);
  CHECK(whole.call.dtype == numerics::ElementFormat::fp32);
  CHECK(imported("f64", "all-reduce", ", to_apply=%add").call.elements == 128);
  CHECK(imported("s4", "all-reduce", ", to_apply=%add").call.elements == 32);
  CHECK_FALSE(imported("f8e5m2", "all-reduce", ", to_apply=%add").can_quantize);
}

TEST_CASE("unsupported collectives have a reason and take no time") {
  const hlo::Flow made = flow(
      "  %r = f32[64] all-reduce(%p), to_apply=%add, channel_id=1, "
      "replica_groups={{0,3},{1,2,4,5},{6,7}}, use_global_device_ids=true\n"
      "  %s = f32[64] collective-permute(%p), channel_id=1, source_target_pairs={{0,5},{1,5}}\n"
      "  %t = f32[64] all-reduce(%p), to_apply=%add, channel_id=1, replica_groups=[8,1]<=[8], "
      "use_global_device_ids=true\n"
      "  %u = f32[64] all-reduce(%p), to_apply=%add, channel_id=1, replica_groups={{9}}, "
      "use_global_device_ids=true\n"
      "  %n = f32[64] negate(%p)\n");
  const HloStep step =
      hlo_step(made, lay_mesh({2, 4}, {{.name = "a", .length = 2}, {.name = "b", .length = 4}}));
  CHECK(step.graph.tasks.size() == 1);
  CHECK(step.collectives[0].skip_reason ==
        "unsupported groups: one group has 2 chips and another 4; all groups must have the same "
        "size");
  CHECK(step.collectives[1].skip_reason ==
        "unsupported pairs: chip 5 receives twice; a chip can receive from one other chip");
  CHECK(step.collectives[2].skip_reason == "groups of one chip");
  CHECK(step.collectives[3].skip_reason ==
        "its replica_groups name chip 9, but the program is for 8 chips by its header or --chips");
}

TEST_CASE("groups that do not lie along axes are listed, and permutes have pairs") {
  const hlo::Flow made = flow(
      "  %r = f32[64] all-reduce(%p), to_apply=%add, channel_id=1, "
      "replica_groups={{0,3},{1,2},{4,5},{6,7}}, use_global_device_ids=true\n"
      "  %s = f32[64] collective-permute(%r), channel_id=1, source_target_pairs={{0,5},{5,0}}\n"
      "  %t = f32[64] all-reduce(%s), to_apply=%add, channel_id=1, "
      "replica_groups={{0,3},{1,2},{4,5},{6,7}}, use_global_device_ids=true\n");
  const HloStep step =
      hlo_step(made, lay_mesh({2, 4}, {{.name = "a", .length = 2}, {.name = "b", .length = 4}}));
  REQUIRE(step.graph.chip_lists.size() == 2);
  CHECK(step.graph.chip_lists[0].lists ==
        std::vector<std::vector<std::uint32_t>>{{0, 3}, {1, 2}, {4, 5}, {6, 7}});
  REQUIRE(step.graph.tasks.size() == 3);
  CHECK(std::get<CollectiveCall>(step.graph.tasks[0].work).groups == ListedGroups{0, 2});
  CHECK(step.collectives[0].can_quantize);
  CHECK(std::get<Permute>(step.graph.tasks[1].work) == Permute{1, 256});
  CHECK_FALSE(step.collectives[1].can_quantize);
  CHECK(step.graph.streams == std::vector<std::string>{"groups of 2", "permute"});
  // Dependencies that another dependency implies are omitted.
  CHECK(names(step.graph, step.graph.tasks[2].after) == std::vector<std::string>{"s 0"});
}

TEST_CASE("host transfers are blocking") {
  const hlo::Flow made = flow(
      "  %h = f32[64]{0:S(5)} parameter(2)\n  %n = f32[64] add(%p, %h)\n  %o = f32[64]{0:S(5)} "
      "copy(%n)\n");
  const StepGraph graph = hlo_step(made, lay_mesh({2, 4}, {{.name = "chips", .length = 8}})).graph;
  REQUIRE(graph.tasks.size() == 3);
  CHECK(std::get<HostTransfer>(graph.tasks[0].work).bytes == 256.0);
  CHECK(names(graph, task(graph, "compute 0").after) == std::vector<std::string>{"from-host 0"});
  CHECK(std::get<HostTransfer>(graph.tasks.back().work).direction ==
        HostTransfer::Direction::to_host);
}

TEST_CASE("empty and too large programs are rejected") {
  const hlo::Flow nothing = flow("");
  CHECK_THROWS_WITH(hlo_step(nothing, lay_mesh({8}, {{.name = "chips", .length = 8}})),
                    ContainsSubstring("nothing to simulate"));
  const hlo::Flow much = flow(
      "  %w = f32[64] while(%p), condition=%cond, body=%body, "
      "backend_config={\"known_trip_count\":{\"n\":\"900000\"}}\n",
      "%cond (c: f32[64]) -> pred[] {\n  %c = f32[64] parameter(0)\n  ROOT %t = pred[] "
      "constant(true)\n}\n"
      "%body (q: f32[64]) -> f32[64] {\n  %q = f32[64] parameter(0)\n  ROOT %r = f32[64] "
      "all-reduce(%q), to_apply=%add" +
          kRows + "\n}\n");
  CHECK_THROWS_WITH(hlo_step(much, mesh_of(much)), ContainsSubstring("--trip-count LOOP=COUNT"));
}

}  // namespace
}  // namespace equarx::steps::hlo_step_test
