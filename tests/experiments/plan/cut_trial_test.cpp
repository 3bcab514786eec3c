#include "experiments/plan/cut_trial.hpp"

#include <stdexcept>

#include "experiments/plan/machine.hpp"
#include "experiments/plan/programs.hpp"
#include "sim/time_executor.hpp"
#include "tests/catch.hpp"
#include "tests/support/configs.hpp"

namespace equarx::plan::cut_trial_test {
namespace {

config::ExperimentConfig config_of(const std::string& topology, const std::string& algorithm,
                                   const std::string& format) {
  input::Json json = testing::good_config();
  json["topology"] = input::parse_json(topology);
  json["tensor"] = {{"bytes", "1 MiB"}};
  json["collectives"] = {{{"label", "bf16"}, {"algorithm", algorithm}, {"format", format}}};
  json["numerics"] = "off";
  return config::read_config(json);
}

collectives::ProgramRequest request_of(const config::ExperimentConfig& config) {
  const config::CollectiveConfig& collective = config.collectives.front();
  return program_request(collective, value_or_throw(rank_grid(collective.algorithm, config, "")),
                         config);
}

/// All representative chips, with new timelines.
double simulated_s(const config::ExperimentConfig& config) {
  const collectives::Program program =
      config.collectives.front().algorithm->make(request_of(config));
  return sim::simulate(program, representative_of(program, config),
                       program_costs(program, config.chip), {.engine = sim::Engine::direct})
      .time_s;
}

double trial_s(const config::ExperimentConfig& config) {
  return cut_trial(config.collectives.front().algorithm, request_of(config))->time_s(config.chip);
}

TEST_CASE("a trial takes bit for bit the simulated time, on chips with other parameters too") {
  for (const std::string topology : {R"({"slice": "4x2"})", R"({"torus": "4x4x2"})"})
    for (const std::string format : {"bf16", "int8"}) {
      CAPTURE(topology, format);
      const bool on_axes = topology.find("torus") != std::string::npos;
      config::ExperimentConfig config =
          config_of(topology, on_axes ? "torus" : (format == "bf16" ? "ring" : "equarx"), format);
      REQUIRE(has_cut_trials(config.collectives.front().algorithm, request_of(config), config));
      CHECK(trial_s(config) == simulated_s(config));
      hardware::Chip& chip = config.chip;
      for (hardware::Parameter* parameter :
           {&chip.link_bandwidth, &chip.hop_latency, &chip.vector_rate, &chip.hbm_bandwidth,
            &chip.vmem_bandwidth, &chip.dma_overhead, &chip.wait_overhead, &chip.barrier_time,
            &chip.step_sync_time, &chip.collective_startup, &chip.instruction_overhead}) {
        parameter->value = parameter->value * 3.7 + 1e-7;
        CHECK(trial_s(config) == simulated_s(config));
      }
      chip.dma_queue.value = 1;
      CHECK(trial_s(config) == simulated_s(config));
    }
}

TEST_CASE("a trial is made once for equal requests") {
  const config::ExperimentConfig config = config_of(R"({"slice": "4x2"})", "equarx", "int8");
  const config::Algorithm algorithm = config.collectives.front().algorithm;
  const auto first = cut_trial(algorithm, request_of(config));
  REQUIRE(first);
  CHECK(first->bytes() > sizeof(CutTrial));
  CHECK(cut_trial(algorithm, request_of(config)) == first);
  collectives::ProgramRequest other = request_of(config);
  other.elements *= 2;
  CHECK(cut_trial(algorithm, other) != first);
  other.elements = 2;
  other.cut = {.minishards = 2, .microshards = 2};
  CHECK_THROWS_AS(cut_trial(algorithm, other), std::invalid_argument);
}

TEST_CASE("programs whose ranks differ have no trial") {
  config::ExperimentConfig config = config_of(R"({"slice": "4x2"})", "ring", "bf16");
  config.collective = collectives::Collective::broadcast;
  CHECK(cut_trial(config.collectives.front().algorithm, request_of(config)) == nullptr);
}

TEST_CASE("shared HBM, switches and workgroups have no trials") {
  const config::ExperimentConfig good = config_of(R"({"slice": "4x2"})", "equarx", "int8");
  const auto has = [&](const config::ExperimentConfig& config) {
    return has_cut_trials(config.collectives.front().algorithm, request_of(good), config);
  };
  CHECK(has(good));
  config::ExperimentConfig other = good;
  other.wire_buffers = collectives::WireBuffers::hbm;
  CHECK_FALSE(has(other));
  other = good;
  other.topology.kind = config::TopologyKind::on_switch;
  CHECK_FALSE(has(other));
}

}  // namespace
}  // namespace equarx::plan::cut_trial_test
