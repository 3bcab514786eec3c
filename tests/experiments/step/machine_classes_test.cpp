// One chip for each class of chips against the simulation of all chips.
#include <algorithm>
#include <random>
#include <string>

#include <fmt/format.h>

#include "base/input/json.hpp"
#include "experiments/step/activity.hpp"
#include "tests/catch.hpp"
#include "tests/support/changed.hpp"
#include "tests/support/errors.hpp"
#include "tests/support/step_runs.hpp"

namespace equarx::step::machine_classes_test {
namespace {

using input::Json;
using testing::changed;
using testing::run_step;

/// A pipeline: stages along the first mesh axis, with `chips` chips in each.
struct Pipeline {
  int stages = 2;
  int chips = 4;
  int microbatches = 2;
  bool waits = false;  ///< its messages are permutes that wait
};

/// Chips of a stage, and pairs with another stage.
Json lists_of(const Pipeline& pipeline) {
  Json lists = Json::object();
  for (int stage = 0; stage < pipeline.stages; ++stage)
    for (int chip = 0; chip < pipeline.chips; ++chip) {
      const int number = stage * pipeline.chips + chip;
      lists[fmt::format("stage {}", stage)][0].push_back(number);
      if (stage + 1 < pipeline.stages) {
        lists[fmt::format("to {}", stage + 1)].push_back({number, number + pipeline.chips});
        lists[fmt::format("from {}", stage + 1)].push_back({number + pipeline.chips, number});
      }
    }
  return lists;
}

/// Tasks of a random step with these stages.
class RandomTasks {
 public:
  RandomTasks(const Pipeline& pipeline, int tensor, unsigned seed)
      : pipeline_(pipeline), tensor_(tensor), random_(seed) {}

  Json make() {
    for (const std::string way : {"to", "from"})
      for (int microbatch = 0; microbatch < pipeline_.microbatches; ++microbatch)
        for (int i = 0; i < pipeline_.stages; ++i)
          add_stage(way, way == "to" ? i : pipeline_.stages - 1 - i, microbatch);
    return tasks_;
  }

 private:
  int below(int count) { return std::uniform_int_distribution<>(0, count - 1)(random_); }
  bool once_in(int count) { return below(count) == 0; }

  /// Work of a stage in one direction, between its messages.
  void add_stage(const std::string& way, int stage, int microbatch) {
    const std::string name = fmt::format("{} {}.{}", way, stage, microbatch);
    const std::string stage_list = fmt::format("stage {}", stage);
    const bool forward = way == "to";
    Json after = Json::array();
    if (forward ? stage > 0 : stage + 1 < pipeline_.stages)
      after.push_back(fmt::format("{} of {} {}.{}", pipeline_.waits ? "message" : "receive", way,
                                  forward ? stage - 1 : stage + 1, microbatch));
    tasks_.push_back({{"name", name},
                      {"chips", stage_list},
                      {"after", after},
                      {"compute", {{"time", fmt::format("{} us", 20 + stage * 7 + below(90))}}}});
    for (int i = below(3); i > 0; --i)
      add_collective(fmt::format("{} {}", i, name), stage_list, name);
    if (once_in(4))
      tasks_.push_back(
          {{"name", "all after " + name}, {"after", {name}}, {"compute", {{"time", "9 us"}}}});
    if (forward ? stage + 1 < pipeline_.stages : stage > 0)
      add_message(way, stage, microbatch, name);
  }

  void add_collective(const std::string& name, const std::string& stage_list,
                      const std::string& after) {
    const char* const kinds[] = {"all-reduce", "all-gather", "all-to-all", "reduce-scatter"};
    const Json axes[] = {{"tensor"}, {"data"}};
    Json task = {{"name", name},
                 {"stream", once_in(2) ? "core" : "other"},
                 {"collective",
                  {{"kind", kinds[below(4)]},
                   {"axes", axes[below(tensor_ < pipeline_.chips ? 2 : 1)]},
                   {"bytes", fmt::format("{} KiB", 64 << below(6))}}}};
    if (!once_in(4)) task["chips"] = stage_list;
    if (once_in(2)) task["after"] = {after};
    tasks_.push_back(task);
  }

  void add_message(const std::string& way, int stage, int microbatch, const std::string& after) {
    const bool forward = way == "to";
    const std::string end = fmt::format("of {} {}.{}", way, stage, microbatch);
    tasks_.push_back(
        {{"name", "message " + end},
         {"stream", fmt::format("{} {}", way, stage)},
         {"after", {after}},
         {"permute",
          {{"pairs", forward ? fmt::format("to {}", stage + 1) : fmt::format("from {}", stage)},
           {"bytes", fmt::format("{} KiB", 256 << below(4))},
           {"wait", pipeline_.waits}}}});
    if (!pipeline_.waits)
      tasks_.push_back({{"name", "receive " + end},
                        {"stream", fmt::format("receive {} {}", way, stage)},
                        {"receive", "message " + end}});
  }

  Pipeline pipeline_;
  int tensor_;
  std::mt19937 random_;
  Json tasks_ = Json::array();
};

Json step_of(const Pipeline& pipeline, int tensor, const Json& machine, unsigned seed) {
  Json json = machine;
  json["mesh"] = {
      {"pipeline", pipeline.stages}, {"data", pipeline.chips / tensor}, {"tensor", tensor}};
  json["step"] = {{"groups", lists_of(pipeline)},
                  {"tasks", RandomTasks(pipeline, tensor, seed).make()}};
  return json;
}

/// All but what depends on the choice among equally late chips.
void check_equal(const VariantResult& few, const VariantResult& all) {
  CHECK(few.time_s == Approx(all.time_s).epsilon(1e-9));
  CHECK(few.lower_bound_s == Approx(all.lower_bound_s).epsilon(1e-9));
  CHECK(few.compute_s == Approx(all.compute_s).epsilon(1e-9));
  for (std::size_t task = 0; task < all.tasks.size(); ++task) {
    CHECK(few.tasks[task].start_s == Approx(all.tasks[task].start_s).epsilon(1e-9).margin(1e-15));
    CHECK(few.tasks[task].end_s == Approx(all.tasks[task].end_s).epsilon(1e-9));
  }
  REQUIRE(few.groups.size() == all.groups.size());
  double few_s = 0.0;
  double all_s = 0.0;
  for (const GroupResult& group : few.groups) few_s += group.critical_s;
  for (const GroupResult& group : all.groups) all_s += group.critical_s;
  CHECK(few_s == Approx(all_s).epsilon(1e-9));
}

/// Bytes and work of all chips do not depend on the number that is simulated.
void check_activity(const Json& few, const Json& all) {
  const auto activity = [](const Json& json) {
    const StepPlan plan = testing::step_plan_of(json);
    const VariantPlan& variant = plan.variants.front();
    return activity_of(plan, variant, totals_of(variant.work, variant.machine), 1.0);
  };
  const hardware::Activity one = activity(few);
  const hardware::Activity other = activity(all);
  CHECK(one.link_bytes == Approx(other.link_bytes));
  CHECK(one.network_bytes == Approx(other.network_bytes));
  CHECK(one.hbm_bytes == Approx(other.hbm_bytes));
  CHECK(one.vector_ops == Approx(other.vector_ops));
  CHECK(one.busy_s == Approx(other.busy_s));
}

const char* const kMachines[] = {
    R"({"hardware": "tpu-v5e", "topology": {"torus": "4x4"}})",
    R"({"hardware": "tpu-v5e", "topology": {"torus": "4x4"}, "wire_buffers": "hbm"})",
    R"({"hardware": "h100", "topology": {"switch": 16}})",
    R"({"hardware": "h100", "topology": {"switch": 16}, "wire_buffers": "hbm"})",
    R"({"hardware": "h100", "topology": {"switch": 4, "network":
        {"slices": 4, "bandwidth": "40 GB/s", "latency": "3 us", "chips_per_port": 1}}})",
    R"({"hardware": "h100", "topology": {"switch": 4, "network":
        {"slices": 4, "bandwidth": "40 GB/s", "latency": "3 us", "chips_per_port": 2}}})",
    R"({"hardware": "h100", "topology": {"fully-connected": 8, "network":
        {"slices": 2, "bandwidth": "90 GB/s", "latency": "3 us", "chips_per_port": 8}}})",
    R"({"hardware": "tpu-v5e", "topology": {"mesh": "4x4"}})",
};

TEST_CASE("one chip of each class takes as long as all chips, at every task") {
  unsigned seed = 1;
  int fewer = 0;
  for (const char* const machine : kMachines)
    for (const int stages : {2, 4})
      for (const bool waits : {false, true})
        for (int i = 0; i < 3; ++i) {
          const Pipeline pipeline{stages, 16 / stages, 1 + i, waits};
          const int tensor = i == 2 ? pipeline.chips : 2;
          const Json json = step_of(pipeline, tensor, Json::parse(machine), seed++);
          CAPTURE(json.dump());
          const VariantResult few = run_step(json).runs.front();
          const Json full = changed(json, "/simulation", "full");
          const VariantResult all = run_step(full).runs.front();
          CHECK(all.simulated_chips == 16);
          check_activity(json, full);
          check_equal(few, all);
          if (few.simulated_chips < 16) ++fewer;
        }
  CHECK(fewer > 60);
}

TEST_CASE("a chip for each stage of a pipeline on a switch is enough") {
  const Json machine = Json::parse(R"({"hardware": "h100", "topology": {"switch": 16}})");
  const Json json = step_of({2, 8, 2, false}, 2, machine, 7);
  const VariantResult few = run_step(json).runs.front();
  CHECK(few.symmetric);
  CHECK(few.simulated_chips == 2);
  CHECK(few.simulation_reason == "2 of 16 chips simulated: one per class");
  CHECK(run_step(changed(json, "/simulation", "symmetric")).runs.front().time_s == few.time_s);
  const VariantResult simgrid = run_step(changed(json, "/engine", "simgrid")).runs.front();
  CHECK(simgrid.simulated_chips == 16);
  CHECK(simgrid.time_s == Approx(few.time_s).epsilon(1e-6));
}

/// A step of a model with experts on 8 nodes of 4.
Json experts_of(const Json& mesh, const char* schedule) {
  Json json = Json::parse(R"({"hardware": "h100", "topology": {"switch": 4, "network":
      {"slices": 8, "bandwidth": "40 GB/s", "latency": "3 us", "chips_per_port": 1}},
      "memory": "ignore", "step": {"training": {
        "model": "mixtral-8x7b", "sequence": 512, "batch": 64, "microbatches": 4,
        "distributed_optimizer": true}}})");
  json["mesh"] = mesh;
  json["step"]["training"]["pipeline"]["schedule"] = schedule;
  return json;
}

TEST_CASE("one chip represents the experts of a stage, whatever axes gradients are summed along") {
  for (const char* const schedule : {"1f1b", "dualpipe"})
    for (const Json& mesh : {Json{{"pipeline", 2}, {"data", 2}, {"expert", 8}},
                             Json{{"data", 2}, {"pipeline", 2}, {"expert", 8}}}) {
      CAPTURE(schedule, mesh.dump());
      const Json json = experts_of(mesh, schedule);
      const VariantResult few = run_step(json).runs.front();
      CHECK(few.simulated_chips == 2);
      check_equal(few, run_step(changed(json, "/simulation", "full")).runs.front());
    }
}

TEST_CASE("a chip represents an all-to-all across nodes") {
  Json json = Json::parse(R"({"hardware": "h100", "topology": {"switch": 4, "network":
      {"slices": 4, "bandwidth": "40 GB/s", "latency": "3 us", "chips_per_port": 1}},
      "mesh": {"expert": 16}, "step": {"tasks": [
        {"name": "move", "collective": {"kind": "all-to-all", "axes": ["expert"], "bytes": "8 MiB"}}]}})");
  const VariantResult few = run_step(json).runs.front();
  CHECK(few.simulated_chips == 1);
  check_equal(few, run_step(changed(json, "/simulation", "full")).runs.front());
  json["faults"] = Json::parse(R"({"chips": [{"chip": "1:3", "slowdown": 1.5}]})");
  const VariantResult slow = run_step(json).runs.front();
  CHECK(slow.simulated_chips == 16);
}

TEST_CASE("a hierarchical sum of nodes is simulated on one chip") {
  Json json = Json::parse(R"({"hardware": "h100", "topology": {"fully-connected": 4, "network":
      {"slices": 4, "bandwidth": "40 GB/s", "latency": "3 us", "chips_per_port": 1}},
      "mesh": {"data": 16}, "step": {"tasks": [
        {"name": "sum", "collective": {"kind": "all-reduce", "axes": ["data"], "bytes": "8 MiB"}}]},
      "variants": [{"label": "one", "quantize": [{"algorithm": "hierarchical-two-shot"}]}]})");
  const VariantResult few = run_step(json).runs.front();
  CHECK(few.simulated_chips == 1);
  check_equal(few, run_step(changed(json, "/simulation", "full")).runs.front());
}

}  // namespace
}  // namespace equarx::step::machine_classes_test
