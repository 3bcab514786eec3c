#include "experiments/plan/symmetric_timing.hpp"

#include "experiments/plan/machine.hpp"
#include "experiments/plan/programs.hpp"
#include "sim/time_executor.hpp"
#include "tests/catch.hpp"
#include "tests/support/configs.hpp"

namespace equarx::plan::symmetric_timing_test {
namespace {

config::ExperimentConfig config_of(const std::string& topology, const std::string& algorithm,
                                   const std::string& format, const std::string& cast_to = {}) {
  input::Json json = testing::good_config();
  json["topology"] = input::parse_json(topology);
  json["tensor"] = {{"bytes", "1 MiB"}};
  json["collectives"] = {{{"label", "bf16"}, {"algorithm", algorithm}, {"format", format}}};
  if (!cast_to.empty()) json["collectives"][0]["cast_to"] = cast_to;
  json["numerics"] = "off";
  return config::read_config(json);
}

collectives::Program program_of(const config::ExperimentConfig& config) {
  const config::CollectiveConfig& collective = config.collectives.front();
  return make_program(collective, value_or_throw(rank_grid(collective.algorithm, config, "")),
                      config);
}

/// All representative chips, with new timelines.
double simulated_s(const collectives::Program& program, const config::ExperimentConfig& config,
                   double startup_s) {
  sim::Costs costs = program_costs(program, config.chip);
  costs.start_s += startup_s;
  return sim::simulate(program, representative_of(program, config), costs,
                       {.engine = sim::Engine::direct})
      .time_s;
}

TEST_CASE("a program takes bit for bit the simulated time, on chips with other parameters too") {
  for (const std::string topology : {R"({"slice": "4x2"})", R"({"torus": "4x4x2"})"})
    for (const std::string format : {"bf16", "int8"}) {
      CAPTURE(topology, format);
      const bool on_axes = topology.find("torus") != std::string::npos;
      config::ExperimentConfig config =
          config_of(topology, on_axes ? "torus" : (format == "bf16" ? "ring" : "equarx"), format);
      REQUIRE(SymmetricTiming::supports(config));
      const collectives::Program program = program_of(config);
      REQUIRE(SymmetricTiming::can_be_timed(program));
      const SymmetricTiming timing(program);
      CHECK(timing.bytes() > sizeof timing);
      hardware::Chip& chip = config.chip;
      CHECK(timing.time_s(chip) == simulated_s(program, config, 0.0));
      CHECK(timing.time_s(chip, 3e-6) == simulated_s(program, config, 3e-6));
      for (hardware::Parameter* parameter :
           {&chip.link_bandwidth, &chip.hop_latency, &chip.vector_rate, &chip.hbm_bandwidth,
            &chip.vmem_bandwidth, &chip.dma_overhead, &chip.wait_overhead, &chip.barrier_time,
            &chip.step_sync_time, &chip.collective_startup, &chip.instruction_overhead}) {
        parameter->value = parameter->value * 3.7 + 1e-7;
        CHECK(timing.time_s(chip) == simulated_s(program, config, 0.0));
      }
      chip.dma_queue.value = 1;
      CHECK(timing.time_s(chip) == simulated_s(program, config, 0.0));
    }
}

TEST_CASE("casts around a program are timed too") {
  const config::ExperimentConfig config = config_of(R"({"slice": "4x2"})", "ring", "bf16", "fp16");
  const collectives::Program program = program_of(config);
  REQUIRE(program.cast_from);
  CHECK(SymmetricTiming(program).time_s(config.chip) == simulated_s(program, config, 0.0));
}

TEST_CASE("programs whose ranks differ cannot be timed") {
  config::ExperimentConfig config = config_of(R"({"slice": "4x2"})", "ring", "bf16");
  config.collective = collectives::Collective::broadcast;
  const collectives::Program program = program_of(config);
  CHECK_FALSE(SymmetricTiming::can_be_timed(program));
}

TEST_CASE("shared HBM and switches are not supported") {
  config::ExperimentConfig config = config_of(R"({"slice": "4x2"})", "equarx", "int8");
  CHECK(SymmetricTiming::supports(config));
  config.wire_buffers = collectives::WireBuffers::hbm;
  CHECK_FALSE(SymmetricTiming::supports(config));
  config.wire_buffers = collectives::WireBuffers::vmem;
  config.topology.kind = config::TopologyKind::on_switch;
  CHECK_FALSE(SymmetricTiming::supports(config));
}

}  // namespace
}  // namespace equarx::plan::symmetric_timing_test
