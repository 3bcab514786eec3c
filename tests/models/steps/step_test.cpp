#include "models/steps/step.hpp"

#include <string>
#include <vector>

#include "tests/catch.hpp"

namespace equarx::steps::step_test {
namespace {

Task task(const std::string& name, StreamId stream, std::vector<TaskId> after = {}) {
  return {name, name, stream, Computation{}, std::move(after)};
}

TEST_CASE("a task waits for what it names, and for what its stream was given before it") {
  const StepGraph graph{{"core", "links"},
                        {task("a", 0), task("b", 1, {0}), task("c", 0), task("d", 0, {1, 2})}};
  CHECK_NOTHROW(validate(graph));
  CHECK(predecessors(graph) == std::vector<std::vector<TaskId>>{{}, {0}, {0}, {1, 2}});
}

TEST_CASE("a stream is there once, however often it is asked for") {
  StepGraph graph{{"core"}, {}};
  CHECK(stream_id(graph, "core") == 0);
  CHECK(stream_id(graph, "links") == 1);
  CHECK(stream_id(graph, "links") == 1);
  CHECK(graph.streams == std::vector<std::string>{"core", "links"});
}

TEST_CASE("a graph that cannot be carried out is refused") {
  const auto refused = [](const StepGraph& graph, TaskId blamed, const std::string& why) {
    try {
      validate(graph);
      FAIL("it was not refused");
    } catch (const StepError& error) {
      CHECK(error.task() == blamed);
      CHECK_THAT(error.what(), Catch::Contains(why));
    }
  };
  refused({{"core"}, {task("a", 0), task("a", 0)}}, 1, "two tasks 'a'");
  refused({{"core"}, {task("a", 1)}}, 0, "stream");
  refused({{"core"}, {task("a", 0, {7})}}, 0, "waits for a task that is not there");
  refused({{"x", "y"}, {task("a", 0, {1}), task("b", 1, {0})}}, 0,
          "'a' waits for itself: 'a' waits for 'b' waits for 'a'");
  refused({{"core"}, {task("a", 0, {1}), task("b", 0)}}, 0, "the tasks of a stream also wait");
  refused({{"core"}, {task("a", 0, {0})}}, 0, "'a' waits for itself");
  CHECK_THROWS_AS(validate({{"core"}, {}}), std::logic_error);
}

TEST_CASE("the longest path decides how long a step takes at least") {
  const StepGraph chain{{"core"}, {task("a", 0), task("b", 0), task("c", 0)}};
  CHECK(longest_path_s(chain, {1.0, 2.0, 3.0}) == 6.0);
  const StepGraph fork{{"core", "links", "host"},
                       {task("a", 0), task("b", 1, {0}), task("c", 2, {0}), task("d", 0, {1, 2})}};
  CHECK(longest_path_s(fork, {1.0, 5.0, 2.0, 1.0}) == 7.0);
}

TEST_CASE("the critical path goes back along what ended last") {
  const StepGraph fork{{"core", "links", "host"},
                       {task("a", 0), task("b", 1, {0}), task("c", 2, {0}), task("d", 0, {1, 2})}};
  CHECK(critical_path(fork, {{0.0, 1.0}, {1.0, 6.0}, {1.0, 3.0}, {6.0, 7.0}}) ==
        std::vector<TaskId>{0, 1, 3});
  CHECK(critical_path(fork, {{0.0, 1.0}, {1.0, 2.0}, {1.0, 9.0}, {9.0, 9.5}}) ==
        std::vector<TaskId>{0, 2, 3});
}

}  // namespace
}  // namespace equarx::steps::step_test
