// Training over a pipeline, simulated chip by chip, against the slow reference of its schedule.
#include <algorithm>
#include <string>
#include <vector>

#include "base/input/json.hpp"
#include "experiments/config/step_json.hpp"
#include "experiments/step/memory.hpp"
#include "experiments/step/plan.hpp"
#include "experiments/step/run.hpp"
#include "models/steps/model_parts.hpp"
#include "tests/catch.hpp"
#include "tests/models/steps/pipeline_reference.hpp"
#include "tests/models/steps/trainings.hpp"

namespace equarx::pipelines_test {
namespace {

using steps::PipelineKind;
using steps::PipelineShape;
using testing::PassTimes;
using testing::PipelineReference;

struct Case {
  PipelineShape shape;
  std::string schedule;
};

const std::vector<Case>& cases() {
  static const std::vector<Case> all = {{{PipelineKind::gpipe, 4, 4}, "gpipe"},
                                        {{PipelineKind::one_forward_one_backward, 4, 6}, "1f1b"},
                                        {{PipelineKind::one_forward_one_backward, 8, 8}, "1f1b"},
                                        {{PipelineKind::interleaved, 4, 8, 2}, "interleaved"},
                                        {{PipelineKind::zero_bubble, 4, 8}, "zero-bubble"},
                                        {{PipelineKind::dual_pipe, 4, 8}, "dualpipe"}};
  return all;
}

/// One sequence of a model with 17 layers per microbatch, on stages of one chip; messages take no
/// time.
config::StepConfig config_of(const Case& one) {
  const PipelineShape& shape = one.shape;
  config::StepConfig config = config::read_step_config(
      input::Json{{"hardware", "tpu-v5e"},
                  {"topology", {{"torus", std::to_string(shape.stages)}}},
                  {"mesh", {{"pipeline", shape.stages}}},
                  {"memory", "ignore"},
                  {"step",
                   {{"training",
                     {{"model", "llama3-8b"},
                      {"sequence", 512},
                      {"batch", shape.microbatches},
                      {"microbatches", shape.microbatches},
                      {"pipeline", {{"schedule", one.schedule}, {"chunks", shape.chunks}}}}}}}});
  hardware::Chip& chip = config.machine.chip;
  chip.link_bandwidth.value = 1e21;
  chip.hop_latency.value = 1e-18;
  chip.hbm_bandwidth.value = 1e24;
  for (hardware::Parameter* const overhead : {&chip.instruction_overhead, &chip.dma_overhead,
                                              &chip.wait_overhead, &chip.collective_startup})
    overhead->value = 1e-18;
  return config;
}

double core_s(const step::StepPlan& plan, const std::string& name) {
  const auto& tasks = plan.config.graph.tasks;
  const auto found = std::ranges::find(tasks, name, &steps::Task::name);
  return found == tasks.end() ? 0.0 : plan.core_s[static_cast<std::size_t>(found - tasks.begin())];
}

/// Times of the passes of each part, from its tasks in the first two microbatches.
std::vector<PassTimes> times_of(const step::StepPlan& plan, const PipelineShape& shape) {
  const auto parts = steps::model_parts(plan.config.training->training.model, shape.parts(), {});
  std::vector<PassTimes> times;
  const auto sum = [&](const std::string& what, std::uint32_t layer) {
    return core_s(plan, what + " " + std::to_string(layer) + " of microbatch 0");
  };
  for (const steps::ModelPart& part : parts) {
    PassTimes& of = times.emplace_back(PassTimes{0.0, 0.0, 0.0});
    for (std::uint32_t layer = part.first; layer < part.end; ++layer) {
      of.forward += sum("forward", layer);
      of.inputs += sum("backward", layer);
      of.weights += sum("weight gradients", layer);
    }
    if (part.embedding) {
      of.forward += core_s(plan, "embedding of microbatch 0");
      of.weights += core_s(plan, "embedding backward of microbatch 0");
    }
    if (!part.head) continue;
    of.forward += core_s(plan, "head of microbatch 0");
    of.inputs += core_s(plan, "head backward of microbatch 0");
    of.weights += core_s(plan, "weight gradients of head of microbatch 0");
  }
  return times;
}

/// End of the step after the optimizers. `pairs`: stages whose gradients are summed.
double end_s(const step::StepPlan& plan, const PipelineReference& reference, bool pairs) {
  double end_s = 0.0;
  const std::size_t stages = reference.end_of_stage_s.size();
  for (std::size_t stage = 0; stage < stages; ++stage) {
    double ready_s = reference.end_of_stage_s[stage];
    if (pairs) ready_s = std::max(ready_s, reference.end_of_stage_s[stages - 1 - stage]);
    end_s = std::max(end_s, ready_s + core_s(plan, "optimizer of stage " + std::to_string(stage)));
  }
  return end_s;
}

step::VariantResult run(const step::StepPlan& plan) {
  return step::run_step(plan, [](const std::string&) {}).runs.front();
}

TEST_CASE("a simulated pipeline takes as long as the reference of its schedule") {
  for (const Case& one : cases()) {
    if (one.shape.kind == PipelineKind::dual_pipe) continue;
    const step::StepPlan plan = step::make_plan(config_of(one));
    const PipelineReference reference(one.shape, times_of(plan, one.shape), true);
    INFO(one.schedule << ' ' << one.shape.stages);
    const step::VariantResult result = run(plan);
    CHECK(result.time_s == Approx(end_s(plan, reference, false)).epsilon(1e-9));
    CHECK(result.simulated_chips == one.shape.stages);
    for (std::uint32_t stage = 0; stage < one.shape.stages; ++stage) {
      const double busy_s = reference.time_s - reference.idle_s[stage] +
                            core_s(plan, "optimizer of stage " + std::to_string(stage));
      CHECK(result.stage_idle[stage] == Approx(1.0 - busy_s / result.time_s).margin(1e-9));
    }
  }
}

TEST_CASE("DualPipe ends its alternating passes one after the other, or together") {
  const Case& one = cases().back();
  REQUIRE(one.shape.kind == PipelineKind::dual_pipe);
  // Times of delayed and of whole passes: those of the zero-bubble schedule.
  const step::StepPlan split =
      step::make_plan(config_of({{PipelineKind::zero_bubble, 4, 8}, "zero-bubble"}));
  const step::StepPlan plan = step::make_plan(config_of(one));
  const std::vector<PassTimes> times = times_of(split, one.shape);
  const double time_s = run(plan).time_s;
  CHECK(time_s >= end_s(plan, {one.shape, times, false}, true) * (1 - 1e-9));
  constexpr double kSums = 2e-3;  // core time of the sums of gradients over pairs of stages
  CHECK(time_s <= end_s(plan, {one.shape, times, true}, true) * (1 + kSums));
}

TEST_CASE("without communication 1F1B takes M + P - 1 passes") {
  const Case one{{PipelineKind::one_forward_one_backward, 4, 6}, "1f1b"};
  config::StepConfig config = config_of(one);
  const step::StepPlan plan = step::make_plan(config);
  const std::vector<PassTimes> times = times_of(plan, one.shape);
  const auto pass_s = [&](std::size_t part) {
    return times[part].forward + times[part].backward();
  };
  CHECK(pass_s(1) == Approx(pass_s(2)).epsilon(1e-12));
  const PipelineReference equal({PipelineKind::one_forward_one_backward, 4, 6},
                                std::vector<PassTimes>(4, times[1]), true);
  CHECK(equal.time_s == Approx((6 + 4 - 1) * pass_s(1)));
}

TEST_CASE("the first stage of 1F1B keeps the most microbatches, the schedules differ in memory") {
  const auto memory = [](const std::string& schedule) {
    return step::memory_of(config_of({{PipelineKind::one_forward_one_backward, 4, 8}, schedule}));
  };
  const steps::LiveMemory alternating = memory("1f1b").value();
  const steps::LiveMemory all = memory("gpipe").value();
  const steps::LiveMemory delayed = memory("zero-bubble").value();
  // Eight microbatches alive instead of four of the first stage, or one of the last.
  CHECK(all.activations > 1.9 * alternating.activations);
  CHECK(delayed.activations > 1.05 * alternating.activations);
  const config::StepConfig config =
      config_of({{PipelineKind::one_forward_one_backward, 4, 8}, "1f1b"});
  CHECK(step::stage_of(config, step::memory_of(config).value()) == 0U);
  const std::vector<steps::LiveMemory> stages = steps::peaks_of_roles(config.graph);
  REQUIRE(stages.size() == 4);
  CHECK(stages[1].activations < stages[0].activations);
  CHECK(stages[2].activations < stages[1].activations);
}

}  // namespace
}  // namespace equarx::pipelines_test
