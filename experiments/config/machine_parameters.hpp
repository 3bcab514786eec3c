// Parameters of a machine that may be uncertain: of its chips, and of the network between slices.
#pragma once

#include <optional>
#include <vector>

#include "experiments/config/config.hpp"

namespace equarx::config {

/// Parameters of a machine.
struct MachineParameters {
  hardware::Chip chip;
  std::optional<NetworkConfig> network;
};

/// Accessor of one parameter of a machine.
struct MachineParameter {
  const hardware::ParameterInfo* info = nullptr;  ///< key, kind and unit
  hardware::Parameter NetworkConfig::*of_network =
      nullptr;  ///< null for a parameter of the chip, `info->member`

  /// `machine` must have a network if the parameter belongs to one.
  hardware::Parameter& in(MachineParameters& machine) const;
  const hardware::Parameter& in(const MachineParameters& machine) const;
};

/// Key and constraints of a network port's bandwidth: "network_bandwidth", B/s, above 0.
const hardware::ParameterInfo& network_bandwidth_info();

/// Key and constraints of a network port's latency: "network_latency", s.
const hardware::ParameterInfo& network_latency_info();

/// All parameters of a machine that affect times: those of the chip in the order of
/// hardware::parameters(), then those of the network.
std::vector<MachineParameter> all_parameters(const MachineParameters& machine);

/// Parameters of the machine with a standard_uncertainty(). Counts are exact.
std::vector<MachineParameter> uncertain_parameters(const MachineParameters& machine);

/// Returns the parameters of the configured machine.
MachineParameters parameters_of(const ExperimentConfig& config);

/// Sets the chip, and bandwidth and latency of the network if the configuration has one. Drops the
/// planned topology, as speeds of links depend on the parameters.
void set_parameters(const MachineParameters& machine, ExperimentConfig& config);

}  // namespace equarx::config
