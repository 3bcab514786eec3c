// The simulated machine: links, and the way of every message over them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "models/collectives/program.hpp"
#include "sim/timeline.hpp"

namespace equarx::sim {

/// One direction of a cable. It moves the transfers of one chip to another one after the other; where
/// the transfers of several pairs of chips pass, they share its rate fairly. Or the HBM of a chip, which
/// the transfers of its DMAs pass, and what its core reads and writes.
struct LinkSpec {
  std::string name;
  double rate = 0.0;  ///< B/s of payload, > 0
  double latency =
      0.0;  ///< s, >= 0; that of a transfer overlaps the transmission of the one before it
  std::string from{};  ///< the chips that it joins; empty of what stands for many links
  std::string to{};

  bool operator==(const LinkSpec&) const = default;
};

/// Index into Machine::links.
using LinkIndex = std::uint32_t;

/// Links in the order of travel; then the HBMs of sender and receiver, if DMAs take of them.
using Route = std::vector<LinkIndex>;

/// Where the messages of a channel go from one rank. One that sends nothing in a channel is its own peer there.
struct Way {
  collectives::Rank peer = 0;
  Route route;  ///< the same for all channels to the same peer; empty to itself
};

/// A link that stops working for good. Transfers over it fail, and those that start later.
struct LinkFailure {
  LinkIndex link = 0;
  double time_s = 0.0;
};

/// The ranks of a collective, placed on chips and wired up.
struct Machine {
  std::vector<LinkSpec> links;          ///< cables, and then HBMs, if DMAs take of them
  std::vector<std::string> chip_names;  ///< by rank
  std::vector<std::vector<Way>> ways;   ///< by rank and channel
  /// Transfers that a chip may have under way in one channel, at least 1; a further send blocks its core
  /// until the oldest has arrived.
  std::uint32_t dma_queue = 1;
  std::vector<double> slowdown;       ///< factor on a rank's core time, > 0; 1 for all if empty
  std::vector<LinkFailure> failures;  ///< of cables
  /// By rank, its HBM among the links: transfers that leave it, transfers that arrive, and its core share it
  /// max-min fairly. Empty if DMAs take nothing of HBM. See add_hbm().
  std::vector<LinkIndex> hbm;

  std::uint32_t ranks() const { return static_cast<std::uint32_t>(ways.size()); }
  double slowdown_of(collectives::Rank rank) const {
    return slowdown.empty() ? 1.0 : slowdown[rank];
  }
  /// How many links are cables; these come first.
  LinkIndex cables() const {
    return hbm.empty() ? static_cast<LinkIndex>(links.size()) : hbm.front();
  }
  /// How many cables a message goes over.
  std::size_t hops(const Way& way) const { return way.route.size() - (hbm.empty() ? 0 : 2); }
};

/// Gives every chip an HBM that its DMAs and its core share. `machine` has none yet.
/// `rate`: bytes that it reads and writes per second, together, above 0
void add_hbm(double rate, Machine& machine);

/// Who uses each link: pairs of chips whose messages pass it; of an HBM the chip's core, too.
std::vector<std::uint32_t> users_of_links(const Machine& machine);

/// Whether any link has several, as every HBM has.
bool shares_links(const Machine& machine);

/// Seconds that a message spends on the way besides its transmission.
double latency_s(const Machine& machine, const Route& route);

/// B/s of payload that a route can carry: the rate of its slowest link; +Inf of a route without links.
double bottleneck_rate(const Machine& machine, const Route& route);

/// Share by which a simulated time may be below a bound that it meets exactly: times are sums of rounded
/// terms, and SimGrid's clock ticks in picoseconds, which short collectives of microseconds feel.
inline constexpr double kBoundRounding = 1e-6;

/// Bytes that cross each link of `machine` when `program` runs on it; of HBMs also those of the core, which
/// `costs` says.
std::vector<std::uint64_t> link_bytes(const collectives::Program& program, const Machine& machine,
                                      const Costs& costs = {});

/// No run can take less time: every link direction, and every HBM, needs its bytes divided by its rate.
double lower_bound_s(const collectives::Program& program, const Machine& machine,
                     const Costs& costs = {});

}  // namespace equarx::sim
