#include "models/hardware/protocol.hpp"

#include <array>

namespace equarx::hardware {
namespace {

/// Parameters of a protocol.
struct ProtocolParameters {
  std::string_view name;
  Parameter Chip::*startup;
  Parameter Chip::*hop_latency;
  Parameter Chip::*efficiency;
};

constexpr std::array<ProtocolParameters, kProtocols> kTable = {{
    {"none", &Chip::collective_startup, &Chip::hop_latency, &Chip::link_efficiency},
    {"ll", &Chip::ll_startup, &Chip::ll_hop_latency, &Chip::ll_efficiency},
    {"ll128", &Chip::ll128_startup, &Chip::ll128_hop_latency, &Chip::ll128_efficiency},
    {"simple", &Chip::simple_startup, &Chip::simple_hop_latency, &Chip::simple_efficiency},
}};

const ProtocolParameters& parameters_of(Protocol protocol) {
  return kTable[static_cast<std::size_t>(protocol)];
}

}  // namespace

std::string_view name(Protocol protocol) { return parameters_of(protocol).name; }

bool has_protocol(const Chip& chip, Protocol protocol, bool in_switch) {
  if (protocol == Protocol::none) return true;
  if (in_switch) return protocol == Protocol::simple && chip.switch_startup.value > 0.0;
  return (chip.*parameters_of(protocol).efficiency).value > 0.0;
}

Chip under_protocol(Chip chip, Protocol protocol, bool in_switch) {
  if (protocol == Protocol::none) return chip;
  const ProtocolParameters& own = parameters_of(protocol);
  chip.collective_startup = in_switch ? chip.switch_startup : chip.*own.startup;
  chip.hop_latency = in_switch ? Parameter{.source = {}} : chip.*own.hop_latency;
  chip.link_efficiency = chip.*own.efficiency;
  return chip;
}

}  // namespace equarx::hardware
