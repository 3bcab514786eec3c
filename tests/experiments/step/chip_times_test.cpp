#include "experiments/step/chip_times.hpp"

#include <algorithm>
#include <string>

#include <fmt/format.h>

#include "base/input/json.hpp"
#include "base/input/schema.hpp"
#include "experiments/config/step_json.hpp"
#include "experiments/step/run.hpp"
#include "tests/catch.hpp"
#include "tests/support/changed.hpp"
#include "tests/support/errors.hpp"
#include "tests/support/step_runs.hpp"

namespace equarx::step::chip_times_test {
namespace {

using testing::run_step;

constexpr int kStages = 4;
constexpr double kStage_s = 1e-3;

/// A forward pipeline on a ring of four chips, a stage on each. `waits`: messages are permutes that
/// wait; otherwise permutes and receives.
input::Json pipeline(int microbatches, bool waits) {
  input::Json tasks = input::Json::array();
  for (int stage = 0; stage < kStages; ++stage) {
    tasks.push_back({{"name", fmt::format("stage {}: {{i}}", stage)},
                     {"group", "forward"},
                     {"repeat", microbatches},
                     {"chips", {stage}},
                     {"compute", {{"time", "1 ms"}}}});
    if (stage > 0)
      tasks.back()["after"] = {fmt::format("{} {}: {{i}}", waits ? "send" : "receive", stage - 1)};
    if (stage == kStages - 1) break;
    tasks.push_back(
        {{"name", fmt::format("send {}: {{i}}", stage)},
         {"group", "activations"},
         {"repeat", microbatches},
         {"stream", fmt::format("send {}", stage)},
         {"after", {fmt::format("stage {}: {{i}}", stage)}},
         {"permute", {{"pairs", {{stage, stage + 1}}}, {"bytes", "1 MiB"}, {"wait", waits}}}});
    if (!waits)
      tasks.push_back({{"name", fmt::format("receive {}: {{i}}", stage)},
                       {"group", "activations"},
                       {"repeat", microbatches},
                       {"stream", fmt::format("receive {}", stage)},
                       {"receive", fmt::format("send {}: {{i}}", stage)}});
  }
  return {{"hardware", "tpu-v5e"},
          {"topology", {{"ring", kStages}}},
          {"mesh", {{"stage", kStages}}},
          {"step", {{"tasks", tasks}}}};
}

VariantResult run(const input::Json& json) { return run_step(json).runs.front(); }

const GroupResult& group(const VariantResult& variant, const std::string& name) {
  return *std::ranges::find(variant.groups, name, &GroupResult::name);
}

TEST_CASE("a pipeline takes a time for each stage and microbatch, and its messages") {
  for (const bool waits : {true, false})
    for (const int microbatches : {1, 3, 8}) {
      const VariantResult result = run(pipeline(microbatches, waits));
      const GroupResult& messages = group(result, "activations");
      const double message_s = messages.isolated_s / microbatches;
      const double closed_s = (microbatches + kStages - 1) * kStage_s + (kStages - 1) * message_s;
      CHECK(message_s > 2e-5);
      CHECK(result.time_s == Approx(closed_s).epsilon(0.01));
      CHECK(result.time_s >= result.lower_bound_s);
      CHECK(result.lower_bound_s == Approx(microbatches * kStage_s).epsilon(0.02));
      CHECK(result.compute_s == Approx(microbatches * kStage_s).epsilon(0.02));
      CHECK(group(result, "forward").tasks == static_cast<std::uint32_t>(microbatches));
      CHECK_FALSE(result.symmetric);
      CHECK(result.simulated_chips == kStages);
      CHECK(group(result, "forward").critical_s + messages.critical_s ==
            Approx(result.time_s).epsilon(1e-9));
    }
}

TEST_CASE("the critical path of a pipeline crosses its stages") {
  const input::Json json = pipeline(3, true);
  const StepResult result = run_step(json);
  const VariantResult& variant = result.runs.front();
  std::vector<std::string> names;
  for (const steps::TaskId id : variant.critical_path)
    names.push_back(result.config.graph.tasks[id].name);
  CHECK(names.front() == "stage 0: 0");
  CHECK(names.back() == "stage 3: 2");
  for (int stage = 0; stage + 1 < kStages; ++stage)
    CHECK(std::ranges::count_if(names, [&](const std::string& name) {
            return name.starts_with(fmt::format("send {}", stage));
          }) == 1);
  for (const steps::TaskTime& time : variant.tasks) CHECK(time.end_s >= time.start_s);
}

TEST_CASE("both engines agree on chips that run different tasks") {
  for (const bool waits : {true, false}) {
    const input::Json json = pipeline(3, waits);
    CHECK(run(testing::changed(json, "/engine", R"("simgrid")")).time_s ==
          Approx(run(json).time_s).epsilon(1e-9));
  }
}

TEST_CASE("a chip does not wait for tasks that it skips") {
  input::Json json = pipeline(1, true);
  json["step"]["tasks"] = input::Json::parse(R"([
    {"name": "long", "chips": [0, 1], "compute": {"time": "5 ms"}},
    {"name": "sum", "after": ["long"],
     "collective": {"kind": "all-reduce", "groups": [[0, 1]], "bytes": "1 MiB"}},
    {"name": "short", "after": ["sum"], "chips": [1, 2], "compute": {"time": "1 ms"}}])");
  const StepResult result = run_step(json);
  const std::vector<steps::TaskTime>& tasks = result.runs.front().tasks;
  CHECK(tasks[2].start_s == 0.0);  // on chip 2
  CHECK(tasks[2].end_s > 6e-3);    // on chip 1
  CHECK(result.runs.front().time_s == tasks[2].end_s);
}

TEST_CASE("steps with roles survive a round trip and match the schema") {
  const input::Json json = pipeline(2, false);
  input::check_schema(json, "step");
  const input::Json whole = config::to_json(config::read_step_config(json));
  input::check_schema(whole, "step");
  CHECK(config::to_json(config::read_step_config(whole)) == whole);
  CHECK(run(whole).time_s == run(json).time_s);
}

TEST_CASE("impossible roles are refused with their place") {
  const auto refused = [](const std::string& pointer, const std::string& text,
                          const std::string& place, const std::string& message) {
    testing::check_refused(
        [&] { config::read_step_config(testing::changed(pipeline(1, false), pointer, text)); },
        place, message);
  };
  refused("/step/tasks/0/chips", "[4]", "/step/tasks/0/chips", "no chip 4");
  refused("/step/tasks/0/chips", R"("stage")", "/step/tasks/0/chips", "have no 'stage'");
  refused("/step/tasks/3/after", R"(["stage 0: 0"])", "/step/tasks/3/after", "no chip runs both");
  refused("/step/tasks/2/receive", R"("stage 0: 0")", "/step/tasks/2", "which is no permute");
  refused("/step/tasks/1/permute/wait", "true", "/step/tasks/2", "which is no permute");
  testing::check_refused(
      [&] {
        config::read_step_config(
            testing::changed(pipeline(1, true), "/simulation", R"("symmetric")"));
        run(testing::changed(pipeline(1, true), "/simulation", R"("symmetric")"));
      },
      "/simulation", "impossible for this step");
}

}  // namespace
}  // namespace equarx::step::chip_times_test
