// The algorithms that a configuration can name: which collectives they do, where they run, and how their
// programs are made.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "experiments/config.hpp"
#include "models/collectives/program.hpp"

namespace equarx::experiments {

/// "halving-doubling"
std::string_view name(Algorithm algorithm);

/// Algorithms of a collective, `automatic` last.
std::span<const Algorithm> algorithms_of(collectives::Collective collective);

/// Whether the algorithm goes along one ring through all chips.
bool needs_ring(Algorithm algorithm);

/// Whether it can go round in either of two ring styles.
bool has_ring_style(Algorithm algorithm);

/// Whether an AllReduce by it is a ReduceScatter and an AllGather, of which one may stay plain.
bool has_two_phases(Algorithm algorithm);

/// Whether it can run with formats that have scales, and with those that have none.
bool can_be_quantized(collectives::Collective collective, Algorithm algorithm);
bool can_be_plain(Algorithm algorithm);

/// Why the algorithm cannot run on so many chips, or on this kind of topology, as a clause; empty if it
/// can. (Whether there is a ring is found elsewhere.)
std::string why_not(Algorithm algorithm, const ExperimentConfig& config);

/// How ranks are numbered. @throws InputError at `place` if why_not(), naming the algorithms that can run.
collectives::RankGrid rank_grid(Algorithm algorithm, const ExperimentConfig& config,
                                const std::string& place);

/// About how many messages a rank sends, without making the program; 0 if the tensor has too few elements
/// for it.
double estimate_messages(const CollectiveConfig& collective, const collectives::RankGrid& grid,
                         const ExperimentConfig& config);

/// About how many channels the program will have.
std::uint64_t estimate_channels(Algorithm algorithm, const collectives::RankGrid& grid);

/// About how long a simulation of all chips takes on this kind of computer, in seconds.
double estimate_simulation_s(const CollectiveConfig& collective, const collectives::RankGrid& grid,
                             const ExperimentConfig& config);

/// @throws std::invalid_argument if the tensor has too few elements for it.
collectives::Program make_program(const CollectiveConfig& collective,
                                  const collectives::RankGrid& grid,
                                  const ExperimentConfig& config);

}  // namespace equarx::experiments
