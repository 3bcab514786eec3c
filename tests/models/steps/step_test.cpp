#include "models/steps/step.hpp"

#include <string>
#include <vector>

#include "tests/catch.hpp"

namespace equarx::steps::step_test {
namespace {

Task task(const std::string& name, StreamId stream, std::vector<TaskId> after = {}) {
  return {name, name, stream, Computation{}, std::move(after)};
}

TEST_CASE("a task depends on its explicit predecessors and on the previous task of its stream") {
  const StepGraph graph{{"core", "links"},
                        {task("a", 0), task("b", 1, {0}), task("c", 0), task("d", 0, {1, 2})}};
  CHECK_NOTHROW(validate(graph));
  CHECK(predecessors(graph) == std::vector<std::vector<TaskId>>{{}, {0}, {0}, {1, 2}});
}

TEST_CASE("stream_id adds a stream once") {
  StepGraph graph{{"core"}, {}};
  CHECK(stream_id(graph, "core") == 0);
  CHECK(stream_id(graph, "links") == 1);
  CHECK(stream_id(graph, "links") == 1);
  CHECK(graph.streams == std::vector<std::string>{"core", "links"});
}

TEST_CASE("invalid graphs are rejected") {
  const auto rejected = [](const StepGraph& graph, TaskId offending, const std::string& why) {
    try {
      validate(graph);
      FAIL("it was not rejected");
    } catch (const StepError& error) {
      CHECK(error.task() == offending);
      CHECK_THAT(error.what(), Catch::Contains(why));
    }
  };
  rejected({{"core"}, {task("a", 0), task("a", 0)}}, 1, "duplicate task name 'a'");
  rejected({{"core"}, {task("a", 1)}}, 0, "stream");
  rejected({{"core"}, {task("a", 0, {7})}}, 0, "waits for an unknown task");
  rejected({{"x", "y"}, {task("a", 0, {1}), task("b", 1, {0})}}, 0,
           "'a' waits for itself: 'a' waits for 'b' waits for 'a'");
  rejected({{"core"}, {task("a", 0, {1}), task("b", 0)}}, 0, "tasks of a stream also wait");
  rejected({{"core"}, {task("a", 0, {0})}}, 0, "'a' waits for itself");
  CHECK_THROWS_AS(validate({{"core"}, {}}), std::logic_error);
}

TEST_CASE("the longest path bounds the time of a step") {
  const StepGraph chain{{"core"}, {task("a", 0), task("b", 0), task("c", 0)}};
  CHECK(longest_path_s(chain, {1.0, 2.0, 3.0}) == 6.0);
  const StepGraph fork{{"core", "links", "host"},
                       {task("a", 0), task("b", 1, {0}), task("c", 2, {0}), task("d", 0, {1, 2})}};
  CHECK(longest_path_s(fork, {1.0, 5.0, 2.0, 1.0}) == 7.0);
}

TEST_CASE("the critical path follows the predecessors that end last") {
  const StepGraph fork{{"core", "links", "host"},
                       {task("a", 0), task("b", 1, {0}), task("c", 2, {0}), task("d", 0, {1, 2})}};
  CHECK(critical_path(fork, {{0.0, 1.0}, {1.0, 6.0}, {1.0, 3.0}, {6.0, 7.0}}) ==
        std::vector<TaskId>{0, 1, 3});
  CHECK(critical_path(fork, {{0.0, 1.0}, {1.0, 2.0}, {1.0, 9.0}, {9.0, 9.5}}) ==
        std::vector<TaskId>{0, 2, 3});
}

}  // namespace
}  // namespace equarx::steps::step_test
