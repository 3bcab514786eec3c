#include "experiments/tune_step/groups.hpp"

#include "experiments/config/step_json.hpp"
#include "experiments/config/task_index.hpp"
#include "tests/catch.hpp"
#include "tests/support/steps.hpp"

namespace equarx::tune_step::groups_test {
namespace {

TEST_CASE("calls are grouped by task group and kind, largest first") {
  const config::StepConfig config = config::read_step_config(testing::good_training());
  const std::vector<CollectiveGroup> groups = collective_groups(config);
  std::vector<std::size_t> calls;
  std::uint32_t tasks = 0;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    const CollectiveGroup& group = groups[i];
    for (std::size_t other = 0; other < i; ++other)
      CHECK_FALSE(
          (groups[other].name == group.name && groups[other].collective == group.collective));
    REQUIRE(group.calls.size() == group.tasks.size());
    for (std::size_t k = 0; k < group.calls.size(); ++k) {
      const config::StepCall& call = config.calls[group.calls[k]];
      CHECK(call.group == group.name);
      CHECK(call.call.collective == group.collective);
      calls.push_back(group.calls[k]);
      if (k > 0)
        CHECK(call.call.elements * group.tasks[k] <=
              config.calls[group.calls[k - 1]].call.elements * group.tasks[k - 1]);
    }
    tasks += group.all_tasks();
  }
  CHECK(calls.size() == config.calls.size());
  std::uint32_t collectives = 0;
  const config::TaskIndex index(config);
  for (const steps::Task& task : config.graph.tasks)
    if (index.call_of(task)) ++collectives;
  CHECK(tasks == collectives);
  CHECK(groups.size() < config.calls.size());  // gathers of layers and of tables
}

}  // namespace
}  // namespace equarx::tune_step::groups_test
