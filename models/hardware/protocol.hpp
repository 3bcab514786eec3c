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

/// Kinds of algorithms with rows of their own in NCCL's table.
enum class Pattern : std::uint8_t {
  ring,       ///< rings, and exchanges of pairs
  tree,       ///< trees between nodes
  in_switch,  ///< sums in a switch
};

/// "ll128"
std::string_view name(Protocol protocol);

/// True if the chip states the parameters of the protocol, and with `across_network` those between
/// nodes. Sums in a switch run under Simple only, with parameters of their own.
bool has_protocol(const Chip& chip, Protocol protocol, Pattern pattern, bool across_network);

/// Returns the chip as a collective under the protocol sees it: its collective_startup, hop_latency
/// and link_efficiency are those of the protocol. Sums in a switch have no hop latency, which their
/// startup includes; trees have hops and a rate of their own.
Chip under_protocol(Chip chip, Protocol protocol, Pattern pattern);

/// Returns a chip whose links together are no faster than `thread_blocks` that move data. The chip
/// states its thread_block_rate.
Chip with_thread_blocks(Chip chip, std::uint32_t thread_blocks);

/// A network as chips see it.
struct NetworkPort {
  double rate = 0.0;       ///< B/s of payload of a port, each way
  double latency_s = 0.0;  ///< from port to port
};

/// Returns the ports of a network as a collective under the protocol sees them. Flags take the same
/// share of their rate as of links, relative to Simple; LL has a limit of its own.
/// @param ports  ports of a node, at least 1
NetworkPort under_protocol(NetworkPort port, std::uint32_t ports, const Chip& chip,
                           Protocol protocol, Pattern pattern);

/// Bytes of the chunks that NCCL sends through trees: of its buffers (DEFAULT_*_BUFFSIZE of
/// src/init.cc, in eight steps) and, under LL128, less for tensors of few chunks
/// (calcCollChunking() in src/enqueue.cc).
/// @param bytes  of the tensor on each chip
std::uint64_t tree_chunk_bytes(Protocol protocol, std::uint32_t nodes, std::uint32_t chips_of_node,
                               std::uint64_t bytes);

}  // namespace equarx::hardware
