// The simulated machine: links, and the route of every message.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "models/collectives/program.hpp"
#include "sim/timeline.hpp"

namespace equarx::sim {

/// One direction of a link, or the HBM of a chip. Transfers of one pair of chips are serialized;
/// several pairs share the rate max-min fairly. An HBM serves the DMAs of its chip and the accesses
/// of its core.
struct LinkSpec {
  std::string name;
  double rate = 0.0;     ///< B/s of payload, > 0
  double latency = 0.0;  ///< s, >= 0; overlaps the transmission of the previous transfer
  std::string from{};    ///< names of the two chips; empty for representative links and HBMs
  std::string to{};
  /// Pairs of chips for each pair of the machine: more than one on links that represent several
  /// chips (classes.hpp), with the rate for each of them.
  std::uint32_t users = 1;

  bool operator==(const LinkSpec&) const = default;
};

/// Index into Machine::links.
using LinkIndex = std::uint32_t;

/// Links in the order of travel, followed by the HBMs of sender and receiver if DMAs share HBM. A link
/// that stands for several is listed as often.
using Route = std::vector<LinkIndex>;

/// Peer and route of the messages of a rank in one channel. A rank that sends nothing in a channel
/// is its own peer there.
struct OutPort {
  collectives::Rank peer = 0;
  /// The same for all channels to the same peer and lane; empty if the rank sends nothing.
  Route route = {};
  /// Messages to one peer are serialized within a lane. A rank that stands for several peers, perhaps
  /// including itself, has a lane for each (classes.hpp).
  std::uint32_t lane = 0;

  bool sends(collectives::Rank rank) const { return peer != rank || !route.empty(); }
};

/// A permanent link failure. Transfers in flight and later ones over the link fail.
struct LinkFailure {
  LinkIndex link = 0;
  double time_s = 0.0;
};

/// The ranks of a collective, placed on chips, with their links and routes.
struct Machine {
  std::vector<LinkSpec> links;          ///< chip-to-chip links, followed by HBMs if DMAs share HBM
  std::vector<std::string> chip_names;  ///< by rank
  std::vector<std::vector<OutPort>> out_ports;  ///< by rank and channel
  /// Outstanding transfers of a chip per channel, >= 1; a further send blocks the core until the
  /// oldest one has arrived.
  std::uint32_t dma_queue = 1;
  std::vector<double> slowdown;       ///< by rank, factor on core time, > 0; all 1 if empty
  std::vector<LinkFailure> failures;  ///< of chip-to-chip links
  /// By rank, index of its HBM in `links`, shared max-min fairly by outgoing transfers, incoming
  /// transfers and the core. Empty if DMAs do not share HBM. See add_hbm().
  std::vector<LinkIndex> hbm;

  std::uint32_t ranks() const { return static_cast<std::uint32_t>(out_ports.size()); }
  double slowdown_of(collectives::Rank rank) const {
    return slowdown.empty() ? 1.0 : slowdown[rank];
  }
  /// Number of chip-to-chip links; these precede the HBMs in `links`.
  LinkIndex cables() const {
    return hbm.empty() ? static_cast<LinkIndex>(links.size()) : hbm.front();
  }
  /// Most lanes of a rank to a peer.
  std::uint32_t lanes() const;
  /// Number of chip-to-chip links on a route.
  std::size_t hops(const OutPort& port) const { return port.route.size() - (hbm.empty() ? 0 : 2); }
};

/// Adds an HBM shared by DMAs and core to every chip. Precondition: `machine` has none. `rate`:
/// combined read and write rate in B/s, > 0.
void add_hbm(double rate, Machine& machine);

/// Returns, by link, the number of pairs of chips whose messages use it, plus the core for HBMs.
std::vector<std::uint32_t> users_of_links(const Machine& machine);

/// True if any link has several users. Always true with HBMs.
bool shares_links(const Machine& machine);

/// Total latency of a route in s, excluding transmission.
double latency_s(const Machine& machine, const Route& route);

/// Payload rate of a route in B/s: of its slowest link, with one user; +Inf for an empty route.
double bottleneck_rate(const Machine& machine, const Route& route);

/// Relative tolerance by which a simulated time may fall below an exactly met bound: times are sums
/// of rounded terms, and SimGrid's picosecond ticks are noticeable in microsecond collectives.
inline constexpr double kBoundRounding = 1e-6;

/// Gives the ranks other channels: channel i has the peers and routes of channel `channels[i]`.
void set_channels(const std::vector<collectives::ChannelId>& channels, Machine& machine);

/// Returns the bytes that cross each link of `machine` when `program` runs on it; for HBMs
/// including core accesses (Costs::hbm_bytes).
std::vector<std::uint64_t> link_bytes(const collectives::Program& program, const Machine& machine,
                                      const Costs& costs = {});

/// Lower bound on the run time in s: the maximum over links and HBMs of bytes / rate.
double lower_bound_s(const collectives::Program& program, const Machine& machine,
                     const Costs& costs = {});
/// The same for given link_bytes().
double lower_bound_s(const std::vector<std::uint64_t>& link_bytes, const Machine& machine);

}  // namespace equarx::sim
