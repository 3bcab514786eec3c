// Chips on one non-blocking switch.
#pragma once

#include <span>

#include "models/collectives/program.hpp"
#include "sim/machine.hpp"

namespace equarx::sim {

/// A switch, as seen by every chip.
struct SwitchSpec {
  double rate = 0.0;            ///< B/s of payload of a port, each way, > 0
  double latency = 0.0;         ///< s, from chip to chip, >= 0
  double operation_rate = 0.0;  ///< B/s of payload of a port while the switch adds or multiplies
};

/// Adds the ports of `chips` chips to a machine without links: link 2k from chip k to the switch,
/// link 2k + 1 back.
void add_ports(const SwitchSpec& spec, std::uint32_t chips, Machine& machine);

/// Routes between the ports of a switch, whose links are 2 x chip and 2 x chip + 1.
class SwitchRoutes {
 public:
  /// Adds two links per chip to `machine` if any of `channels` has sums or copies in the switch.
  /// They limit the rate of these, and add the trips of multimem.ld_reduce (request and answer) and
  /// multimem.st.
  SwitchRoutes(const SwitchSpec& spec, std::uint32_t chips,
               std::span<const collectives::Channel> channels, Machine& machine);

  Route route(std::uint32_t from, std::uint32_t to, collectives::Ports ports) const;

 private:
  LinkIndex operations_ = 0;  ///< first of the added links
};

/// Like representative(): a switch with one chip more than a chip has peers. All chips of any number
/// on a switch act alike, so at all times every port carries as many messages as every other, to or
/// from as many peers.
Machine representative_on_switch(const collectives::Program& program, const SwitchSpec& spec,
                                 std::uint32_t dma_queue);

/// Likewise for several concurrent programs: see representative(). `channels`: their ports, by
/// channel of the machine.
Machine representative_on_switch(std::span<const std::uint64_t> peers,
                                 std::span<const collectives::Channel> channels,
                                 const SwitchSpec& spec, std::uint32_t dma_queue);

}  // namespace equarx::sim
