#include "experiments/config/communication_json.hpp"

#include "base/input/schema.hpp"
#include "experiments/config/json.hpp"
#include "experiments/config/step_json.hpp"
#include "tests/catch.hpp"
#include "tests/support/errors.hpp"
#include "tests/support/steps.hpp"

namespace equarx::config::communication_json_test {
namespace {

/// A sum in listed groups, and a shift of four chips, on 4 x 4.
input::Json listed_step() {
  input::Json json = testing::good_step();
  json.erase("variants");
  json["step"] = input::Json::parse(R"({
    "groups": {"diagonals": [[0,5,10,15],[1,6,11,12],[2,7,8,13],[3,4,9,14]]},
    "tasks": [
      {"name": "sum", "collective": {"kind": "all-reduce", "groups": "diagonals", "bytes": "1 MiB"}},
      {"name": "again", "collective": {"kind": "all-reduce", "bytes": "1 MiB",
                                       "groups": [[0,5,10,15],[1,6,11,12],[2,7,8,13],[3,4,9,14]]}},
      {"name": "shift", "permute": {"pairs": [[0, 1], [1, 2]], "bytes": "1 MiB"}}
    ]})");
  return json;
}

TEST_CASE("chip lists are named or inline, and stored once") {
  const StepConfig config = read_step_config(listed_step());
  REQUIRE(config.graph.chip_lists.size() == 2);
  CHECK(config.graph.chip_lists[0].name == "diagonals");
  const auto& sum = std::get<steps::CollectiveCall>(config.graph.tasks[0].work);
  CHECK(sum.groups == steps::ListedGroups{0, 4});
  CHECK(sum == std::get<steps::CollectiveCall>(config.graph.tasks[1].work));
  CHECK(std::get<steps::Permute>(config.graph.tasks[2].work) == steps::Permute{1, 1U << 20});
  CHECK(config.permutes.size() == 1);
  CHECK(config.graph.streams == std::vector<std::string>{"groups of 4", "permute"});
  CHECK(config.variants[0].collectives[0].algorithm->name == "two-shot");
}

TEST_CASE("a step with chip lists survives a round trip and matches the schema") {
  input::check_schema(listed_step(), "step");
  const input::Json whole = to_json(read_step_config(listed_step()));
  input::check_schema(whole, "step");
  CHECK(to_json(read_step_config(whole)) == whole);
}

TEST_CASE("errors in chip lists are refused with their pointer") {
  const auto refused = [](const std::string& pointer, const std::string& text,
                          const std::string& place, const std::string& message) {
    testing::check_refused(
        [&] { read_step_config(testing::changed(listed_step(), pointer, text)); }, place, message);
  };
  const std::string groups = "/step/tasks/0/collective/groups";
  refused(groups, "diagonal", groups, "have no 'diagonal'; did you mean 'diagonals'?");
  refused(groups, "[[0, 16]]", groups, "no chip 16; the mesh has chips 0 to 15");
  refused(groups, "[0, 1]", groups + "/0", "expected lists of chips, like [[0, 3], [1, 2]]");
  refused(groups, "[[0, -1]]", groups + "/0/1", "not an integer from 0");
  refused("/step/groups", "7", "/step/groups", "expected an object");
  refused("/step/groups/none", "[]", "/step/groups/none", "is empty; list chips");
  refused("/step/groups/none", "[[0], []]", "/step/groups/none/1", "is empty; list chips");
  refused("/step/groups/a~1b", "[]", "/step/groups/a~1b", "is empty");
  const std::string pairs = "/step/tasks/2/permute/pairs";
  refused(pairs, "[[0, 1], [2, 1]]", pairs, "chip 1 receives twice");
  refused(pairs, "diagonals", pairs, "[0, 5, 10, 15] is not a pair");
  refused("/step/tasks/2/permute/bytes", "0", "/step/tasks/2/permute/bytes", "from 1 to");
  refused("/step/tasks/0/collective/kind", "neighbor-average", "/step/tasks/0/collective/kind",
          "one of all-reduce");
  refused("/step/tasks/0/collective/axes", R"(["data"])", "/step/tasks/0/collective/axes",
          "groups");
}

}  // namespace
}  // namespace equarx::config::communication_json_test
