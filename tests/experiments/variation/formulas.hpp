// Runs whose times are formulas of two parameters, instead of simulations.
#pragma once

#include "experiments/config/hardware_json.hpp"
#include "experiments/variation/variation.hpp"

namespace equarx::testing {

/// A chip without uncertainties, and a network with a port of 10 GB/s and a latency of 10 us.
inline config::MachineParameters exact_machine() {
  config::MachineParameters machine{config::load_chip("tpu-v5e", ""), config::NetworkConfig{}};
  for (const config::MachineParameter& one : config::all_parameters(machine)) {
    one.in(machine).range = std::nullopt;
    one.in(machine).standard_error = std::nullopt;
  }
  machine.chip.calibration = std::nullopt;
  machine.network->bandwidth.value = 10e9;
  machine.network->latency.value = 10e-6;
  return machine;
}

/// A baseline of 10 GB over a port of the network, and a run of a quarter of the bytes that takes
/// 0.5 s longer.
inline variation::Varied two_runs(const config::MachineParameters& machine) {
  return {machine,
          [](const config::MachineParameters& there) {
            const double baseline_s = 10e9 / there.network->bandwidth.value;
            const double quarter_s = baseline_s / 4.0 + 0.5;
            return std::vector<variation::Timing>{{baseline_s, 1.0},
                                                  {quarter_s, baseline_s / quarter_s}};
          },
          2};
}

}  // namespace equarx::testing
