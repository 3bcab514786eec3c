// The simulated machine: links, and the way of every message over them.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "models/collectives/program.hpp"

namespace equarx::sim {

/// One direction of a cable: a FIFO server that moves one transfer at a time.
struct LinkSpec {
  std::string name;
  double rate = 0.0;  ///< B/s of payload, > 0
  double latency =
      0.0;  ///< s, >= 0; that of a transfer overlaps the transmission of the one before it
};

/// Indices into Machine::links, in the order of travel.
using Route = std::vector<std::uint32_t>;

/// The ranks of a collective, placed on chips and wired up.
struct Machine {
  std::vector<LinkSpec> links;
  std::vector<std::string> chip_names;  ///< by rank
  /// By rank and Direction: the way to that neighbour.
  std::vector<std::array<Route, collectives::kDirections>> routes;
  /// Transfers that a chip may have under way to one neighbour, at least 1; a further send blocks its core
  /// until the oldest has arrived.
  std::uint32_t dma_queue = 1;

  std::uint32_t ranks() const { return static_cast<std::uint32_t>(routes.size()); }
};

/// Bytes that cross each link of `machine` when `program` runs on it.
std::vector<std::uint64_t> link_bytes(const collectives::Program& program, const Machine& machine);

/// No run can take less time: every link direction needs its bytes divided by its rate.
double lower_bound_s(const collectives::Program& program, const Machine& machine);

/// On a uniform ring all chips do the same at the same time, so a ring of any other length >= 3 that
/// runs the same list of instructions has the same timing. Returns one of three chips.
/// @throws std::invalid_argument if links differ, or the ring has fewer than four chips (nothing to gain).
Machine representative(const Machine& machine);

}  // namespace equarx::sim
