#include "models/steps/roles.hpp"

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "models/steps/mesh_layout.hpp"
#include "tests/catch.hpp"

namespace equarx::steps::roles_test {
namespace {

const Mesh& mesh() {
  static const Mesh kMesh =
      lay_mesh({2, 2}, {{.name = "stage", .length = 2}, {.name = "data", .length = 2}});
  return kMesh;
}

Task task_of(const std::string& name, StreamId stream, decltype(Task::work) work,
             std::optional<std::uint32_t> chips = std::nullopt) {
  return {.name = name,
          .group = name,
          .stream = stream,
          .work = std::move(work),
          .after = {},
          .chips = chips};
}

/// A task of all chips, one of chips 0 and 1, a permute from 0 to 2, and a sum in the group {1, 3}.
StepGraph graph() {
  StepGraph made;
  const StreamId core = stream_id(made, "core");
  made.chip_lists = {{"stage 0", {{0, 1}}}, {"pairs", {{0, 2}, {3, 3}}}, {"groups", {{3, 1}}}};
  made.tasks.push_back(task_of("all", core, Computation{}));
  made.tasks.push_back(task_of("first", core, Computation{}, 0));
  made.tasks.push_back(task_of("send", stream_id(made, "send"), Permute{1, 8}));
  made.tasks.push_back(task_of("sum", stream_id(made, "sum"),
                               CollectiveCall{.groups = ListedGroups{2, 2}, .elements = 8}));
  return made;
}

TEST_CASE("a task is run by its chips, its groups, or its senders and receivers") {
  using Chips = std::vector<std::uint32_t>;
  StepGraph made = graph();
  CHECK_FALSE(listed_chips(made, made.tasks[0]).has_value());
  CHECK(listed_chips(made, made.tasks[1]) == Chips{0, 1});
  CHECK(listed_chips(made, made.tasks[2]) == Chips{0, 2});  // chip 3 sends to itself
  CHECK(listed_chips(made, made.tasks[3]) == Chips{1, 3});
  std::get<Permute>(made.tasks[2].work).waits = false;
  made.tasks.push_back(task_of("receive", 0, Receive{2}));
  CHECK(listed_chips(made, made.tasks[2]) == Chips{0});
  CHECK(listed_chips(made, made.tasks[4]) == Chips{2});
  validate(made);
}

TEST_CASE("roles are the distinct sets of tasks of chips") {
  const StepGraph made = graph();
  const Roles roles(made, 4);
  CHECK(roles.differ());
  CHECK(roles.representatives() == std::vector<std::uint32_t>{0, 1, 2, 3});
  CHECK(roles.tasks_of(2) == std::vector<bool>{true, false, true, false});
  CHECK_FALSE(roles.set_of(0).has_value());
  StepGraph alike = made;
  alike.tasks.resize(1);
  CHECK_FALSE(Roles(alike, 4).differ());
  CHECK(Roles(alike, 4).representatives() == std::vector<std::uint32_t>{0});
}

TEST_CASE("paths and sums are of the tasks of one chip") {
  const StepGraph made = graph();
  const Roles roles(made, 4);
  const std::vector<double> seconds = {1.0, 2.0, 4.0, 8.0};
  CHECK(busiest_s(roles, seconds) == 11.0);  // chip 1
  CHECK(longest_path_s(made, roles, seconds) == 8.0);
  CHECK(longest_path_s(made, roles, {1.0, 2.0, 0.0, 0.0}) == 3.0);
}

TEST_CASE("tasks of a stream on different chips do not wait for each other") {
  StepGraph made = graph();
  made.chip_lists.push_back({"stage 1", {{2, 3}}});
  made.tasks.push_back(task_of("second", 0, Computation{}, 3));
  made.tasks.push_back(task_of("end", 0, Computation{}));
  const auto before = predecessors(made);
  CHECK(before[4] == std::vector<TaskId>{0});
  CHECK(before[5] == std::vector<TaskId>{0, 1, 4});
}

TEST_CASE("invalid chips and receives are refused") {
  StepGraph made = graph();
  const auto error = [&](std::vector<std::uint32_t> chips, TaskId task) {
    made.chip_lists[0].lists = {std::move(chips)};
    made.tasks[task].chips = 0;
    return chips_error(made, made.tasks[task], mesh());
  };
  CHECK(error({0, 1}, 1).empty());
  CHECK_THAT(error({0, 4}, 1), ContainsSubstring("no chip 4; the mesh has chips 0 to 3"));
  CHECK_THAT(error({}, 1), ContainsSubstring("is empty"));
  CHECK_THAT(error({0}, 2), ContainsSubstring("pairs of a permute name the chips"));
  CHECK_THAT(error({0}, 3), ContainsSubstring("groups of the collective name the chips"));
  made.tasks[3].work = CollectiveCall{.axes = {1}, .elements = 8};
  CHECK(error({2, 3}, 3).empty());
  CHECK_THAT(error({0, 2}, 3), ContainsSubstring("chips 0 and 1 are in one group"));

  made = graph();
  std::get<Permute>(made.tasks[2].work).waits = false;
  CHECK_THROWS_WITH(validate(made), ContainsSubstring("no task receives its messages"));
  made.tasks.push_back(task_of("receive", 0, Receive{2}));
  made.tasks.push_back(task_of("again", 0, Receive{2}));
  CHECK_THROWS_WITH(validate(made), ContainsSubstring("both receive from 'send'"));
  made.tasks.back().work = Receive{1};
  CHECK_THROWS_WITH(validate(made), ContainsSubstring("which is no permute"));
}

}  // namespace
}  // namespace equarx::steps::roles_test
