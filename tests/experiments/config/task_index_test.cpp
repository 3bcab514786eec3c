#include "experiments/config/task_index.hpp"

#include <algorithm>

#include "tests/catch.hpp"

namespace equarx::config::task_index_test {
namespace {

using collectives::Collective;
using steps::CollectiveCall;
using steps::Permute;
using steps::Task;

Task call(const std::string& group, const CollectiveCall& work) {
  return {.name = "call", .group = group, .stream = 0, .work = work, .after = {}};
}

Task permute(const Permute& work) {
  return {.name = "permute", .group = "ring", .stream = 0, .work = work, .after = {}};
}

/// Tasks that differ in every member of a collective or permute, each twice.
std::vector<Task> tasks() {
  const CollectiveCall plain{.axes = {0}, .elements = 8};
  std::vector<CollectiveCall> calls(6, plain);
  calls[1].collective = Collective::all_gather;
  calls[2].axes = {0, 1};
  calls[3].groups = steps::ListedGroups{.lists = 1, .size = 2};
  calls[4].elements = 16;
  calls[5].dtype = numerics::ElementFormat::fp32;
  std::vector<Task> all = {
      call("other", plain),
      {.name = "work", .group = "core", .stream = 0, .work = steps::Computation{}, .after = {}}};
  for (const CollectiveCall& one : calls) all.push_back(call("group", one));
  for (const bool waits : {true, false})
    for (const std::uint32_t pairs : {0U, 1U})
      for (const std::uint64_t bytes : {64U, 128U})
        all.push_back(permute({.pairs = pairs, .bytes = bytes, .waits = waits}));
  const std::vector<Task> again = all;
  all.insert(all.end(), again.begin(), again.end());
  return all;
}

// The oracle is a search through all of them.
TEST_CASE("an index finds what a search finds, and numbers by first use") {
  steps::StepGraph graph;
  graph.tasks = tasks();
  const std::vector<StepCall> calls = distinct_calls(graph);
  const std::vector<Permute> permutes = distinct_permutes(graph);
  CHECK(calls.size() == 7);
  CHECK(permutes.size() == 4);
  CHECK(calls.front().group == "other");
  const TaskIndex index(calls, permutes);
  for (const Task& task : graph.tasks) {
    const auto* work = std::get_if<CollectiveCall>(&task.work);
    if (work == nullptr)
      CHECK_FALSE(index.call_of(task));
    else
      CHECK(calls.begin() + static_cast<std::ptrdiff_t>(index.call_of(task).value()) ==
            std::ranges::find(calls, StepCall{task.group, *work}));
    const auto* messages = std::get_if<Permute>(&task.work);
    if (messages == nullptr) {
      CHECK_FALSE(index.permute_of(task));
      continue;
    }
    Permute waiting = *messages;
    waiting.waits = true;
    CHECK(permutes.begin() + static_cast<std::ptrdiff_t>(index.permute_of(task).value()) ==
          std::ranges::find(permutes, waiting));
  }
}

TEST_CASE("an index has no number for unlisted collectives and permutes") {
  TaskIndex index;
  const Task sum = call("group", {.axes = {0}, .elements = 8});
  const Task message = permute({.pairs = 0, .bytes = 64});
  CHECK_FALSE(index.call_of(sum));
  CHECK_FALSE(index.permute_of(message));
  CHECK(index.add_call(sum) == 0U);
  CHECK(index.add_call(sum) == 0U);
  CHECK(index.add_call(call("other", {.axes = {0}, .elements = 8})) == 1U);
  CHECK_FALSE(index.add_call(message));
  CHECK(index.add_permute(message) == 0U);
  CHECK_FALSE(index.add_permute(sum));
  CHECK(index.call_of(sum) == 0U);
}

}  // namespace
}  // namespace equarx::config::task_index_test
