#include "experiments/tune/bounds.hpp"

#include "experiments/plan/plan.hpp"
#include "experiments/run/experiment.hpp"
#include "sim/link_times.hpp"
#include "tests/experiments/tune/tuning.hpp"

namespace equarx::tune::bounds_test {
namespace {

/// Checks the bounds of every candidate against its link bound and its simulated time, on a chip
/// whose quantized steps synchronise.
void check_bounds(input::Json json) {
  json["hardware"] = {{"based_on", "tpu-v5e"}, {"step_sync_time", "0.93 us"}};
  const config::ExperimentConfig config = config::read_config(json);
  const TuneSpace space = enumerate(config, tune_formats({"int8", "mxfp6-e2m3"}));
  double core_s = 0.0;  // of the family
  double microshard_s = 0.0;
  for (std::size_t index = 0; index < space.candidates.size(); ++index) {
    const TuneCandidate& candidate = space.candidates[index];
    if (candidate.microshards != 1 && candidate.microshards != 8) continue;
    CHECK((candidate.microshards == 1) == (index == first_candidate(candidate.family)));
    const TuneFamily& family = space.families[candidate.family];
    const plan::Plan plan = plan::make_plan(with_collective(config, config_of(space, candidate)),
                                            plan::RunProfile::batch);  // on the direct engine
    const plan::CollectivePlan& collective = plan.collectives.front().candidates.front();
    const double early_s =
        traffic_bound_s(space.schemes[family.scheme], family.config, config.tensor.dtype);
    const double links_s = sim::lower_bound_s(collective.program, collective.simulated.machine());
    const double program_s = program_bound_s(collective);
    const double time_s = run::run_experiment(plan, [](const std::string&) {}).runs.front().time_s;
    CAPTURE(collective.config.label, candidate.microshards, family.config.elements_per_scale);
    CHECK(early_s <= time_s * (1.0 + 1e-6));
    CHECK(program_s <= time_s * (1.0 + 1e-6));
    CHECK(links_s <= program_s);
    CHECK(early_s > 0.9 * links_s);  // tight enough to prune
    if (candidate.microshards == 1) {
      core_s = core_bound_s(collective);
      microshard_s = core_of_microshard_s(collective, config.chip);
    }
    CHECK(core_s > 0.0);
    CHECK(microshard_s > 0.0);
    CHECK(core_s + (candidate.microshards - 1) * microshard_s <=
          core_bound_s(collective) * (1.0 + 1e-9));
    CHECK(core_bound_s(collective) <= program_s);
  }
}

TEST_CASE("traffic and program bounds hold for the simulated time") {
  check_bounds(small(R"({"torus": "2x4"})", "1 MB"));
  check_bounds(small(R"({"mesh": "4x2"})", "300 kB"));
  input::Json in_hbm = small(R"({"torus": "2x4"})", "1 MB");
  in_hbm["wire_buffers"] = "hbm";
  check_bounds(in_hbm);
}

TEST_CASE("the program bound of a uniform ring equals its time") {
  const config::ExperimentConfig config = config::read_config(small(R"({"ring": 6})", "1 MiB"));
  const TuneSpace space = enumerate(config, tune_formats({"int8"}));
  for (const TuneCandidate& candidate : space.candidates) {
    if (space.families[candidate.family].config.algorithm != collectives::find_algorithm("equarx"))
      continue;
    const plan::Plan plan = plan::make_plan(with_collective(config, config_of(space, candidate)),
                                            plan::RunProfile::batch);  // on the direct engine
    const plan::CollectivePlan& collective = plan.collectives.front().candidates.front();
    const double time_s = run::run_experiment(plan, [](const std::string&) {}).runs.front().time_s;
    CHECK(program_bound_s(collective) <= time_s * (1.0 + 1e-6));
    CHECK(program_bound_s(collective) > 0.9999 * time_s);
  }
}

}  // namespace
}  // namespace equarx::tune::bounds_test
