#include "experiments/config/machine_parameters.hpp"

namespace equarx::config {

const hardware::ParameterInfo& network_bandwidth_info() {
  static const hardware::ParameterInfo info = {
      "network_bandwidth",         nullptr, hardware::ParameterKind::quantity,
      units::Dimension::bandwidth, false,   "payload rate of a network port, per direction"};
  return info;
}

const hardware::ParameterInfo& network_latency_info() {
  static const hardware::ParameterInfo info = {
      "network_latency",      nullptr, hardware::ParameterKind::quantity,
      units::Dimension::time, true,    "latency from network port to network port"};
  return info;
}

hardware::Parameter& MachineParameter::in(MachineParameters& machine) const {
  return of_network == nullptr ? machine.chip.*info->member : machine.network.value().*of_network;
}

const hardware::Parameter& MachineParameter::in(const MachineParameters& machine) const {
  return of_network == nullptr ? machine.chip.*info->member : machine.network.value().*of_network;
}

std::vector<MachineParameter> all_parameters(const MachineParameters& machine) {
  std::vector<MachineParameter> all;
  for (const hardware::ParameterInfo& info : hardware::parameters())
    if (info.affects_times) all.push_back({&info});
  if (!machine.network) return all;
  all.push_back({&network_bandwidth_info(), &NetworkConfig::bandwidth});
  all.push_back({&network_latency_info(), &NetworkConfig::latency});
  return all;
}

std::vector<MachineParameter> uncertain_parameters(const MachineParameters& machine) {
  std::vector<MachineParameter> uncertain;
  for (const MachineParameter& one : all_parameters(machine))
    if (one.info->kind != hardware::ParameterKind::count &&
        hardware::standard_uncertainty(one.in(machine)))
      uncertain.push_back(one);
  return uncertain;
}

MachineParameters parameters_of(const ExperimentConfig& config) {
  return {config.chip, config.topology.network};
}

void set_parameters(const MachineParameters& machine, ExperimentConfig& config) {
  config.chip = machine.chip;
  if (config.topology.network && machine.network) {
    config.topology.network->bandwidth = machine.network->bandwidth;
    config.topology.network->latency = machine.network->latency;
  }
  config.topology.planned = nullptr;
}

}  // namespace equarx::config
