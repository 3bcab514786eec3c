// NCCL's protocols: how bytes and their flags cross a link.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "models/hardware/chip.hpp"

namespace equarx::hardware {

/// Protocol of a collective. NCCL chooses the one with the least time by its own table
/// (src/graph/tuning.cc), from which the parameters of chips are taken.
enum class Protocol : std::uint8_t {
  none,    ///< kernels with flags of their own: collective_startup, hop_latency, link_efficiency
  ll,      ///< a flag of 4 B with each 4 B: half the rate at most, the least latency
  ll128,   ///< a flag of 8 B with each 120 B
  simple,  ///< one flag per chunk, behind a memory fence: the full rate, the greatest latency
};

/// Values of Protocol.
inline constexpr std::size_t kProtocols = 4;

/// "ll128"
std::string_view name(Protocol protocol);

/// True if the chip states the parameters of the protocol. Sums in a switch run under Simple only,
/// with parameters of their own.
bool has_protocol(const Chip& chip, Protocol protocol, bool in_switch);

/// Returns the chip as a collective under the protocol sees it: its collective_startup, hop_latency
/// and link_efficiency are those of the protocol. Sums in a switch have no hop latency, which their
/// startup includes.
Chip under_protocol(Chip chip, Protocol protocol, bool in_switch);

}  // namespace equarx::hardware
