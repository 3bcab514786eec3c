#include "importers/common/audit_step.hpp"

#include "tests/catch.hpp"

namespace equarx::imports::audit_step_test {
namespace {

using steps::CollectiveCall;
using steps::StepGraph;
using Kind = AuditChange::Kind;

/// x, all-reduces a and b after it, y after a, z after b.
StepGraph graph() {
  const CollectiveCall call{.axes = {0}, .elements = 1024, .dtype = numerics::ElementFormat::fp32};
  StepGraph made{.streams = {"core", "links"}, .tasks = {}};
  made.tasks = {
      {.name = "x", .group = "compute", .stream = 0, .work = steps::Computation{}, .after = {}},
      {.name = "a", .group = "a", .stream = 1, .work = call, .after = {0}},
      {.name = "b", .group = "b", .stream = 1, .work = call, .after = {0}},
      {.name = "y", .group = "compute", .stream = 0, .work = steps::Computation{}, .after = {1}},
      {.name = "z", .group = "compute", .stream = 0, .work = steps::Computation{}, .after = {2}}};
  return made;
}

const CollectiveCall& call_of(const steps::Task& task) {
  return std::get<CollectiveCall>(task.work);
}

TEST_CASE("a retyped collective has the bytes of the new type") {
  const StepGraph made = changed_graph(graph(), {{.kind = Kind::retype,
                                                  .group = "a",
                                                  .bytes = 2048.0,
                                                  .dtype = numerics::ElementFormat::bf16,
                                                  .into = {}}});
  CHECK(call_of(made.tasks[1]).elements == 1024);
  CHECK(call_of(made.tasks[1]).dtype == numerics::ElementFormat::bf16);
  CHECK(call_of(made.tasks[2]) == call_of(graph().tasks[2]));
}

TEST_CASE("users of a removed collective wait for its dependencies") {
  const StepGraph made = changed_graph(graph(), {{.kind = Kind::remove, .group = "a", .into = {}}});
  REQUIRE(made.tasks.size() == 4);
  CHECK(made.tasks[1].name == "b");
  CHECK(made.tasks[2].after == std::vector<steps::TaskId>{0});
  CHECK(made.tasks[3].after == std::vector<steps::TaskId>{1});
  CHECK(changed_graph(graph(), {{.kind = Kind::remove, .group = "a", .kept = 1, .into = {}}})
            .tasks.size() == 5);
}

TEST_CASE("users of a merged collective wait for the one that carries its data") {
  const StepGraph made = changed_graph(graph(), {{.kind = Kind::merge,
                                                  .group = "a",
                                                  .bytes = 8192.0,
                                                  .dtype = numerics::ElementFormat::fp32,
                                                  .into = "b"}});
  REQUIRE(made.tasks.size() == 4);
  CHECK(call_of(made.tasks[1]).elements == 2048);
  CHECK(made.tasks[2].after == std::vector<steps::TaskId>{0, 1});
  steps::validate(made);
}

TEST_CASE("an all-reduce becomes a reduce-scatter, and unknown groups change nothing") {
  const StepGraph made = changed_graph(graph(), {{.kind = Kind::scatter, .group = "b", .into = {}},
                                                 {.kind = Kind::remove, .group = "c", .into = {}}});
  CHECK(made.tasks.size() == 5);
  CHECK(call_of(made.tasks[2]).collective == collectives::Collective::reduce_scatter);
  CHECK(call_of(made.tasks[2]).elements == 1024);
}

}  // namespace
}  // namespace equarx::imports::audit_step_test
