// Search space of `tune`: algorithms, ring styles, phases, formats, minishards and microshards.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "experiments/config/config.hpp"
#include "models/collectives/program.hpp"

namespace equarx::tune {

/// Load of one link direction, independent of the format.
struct LinkLoad {
  double rate = 0.0;                                    ///< B/s
  std::array<double, collectives::kPhases> elements{};  ///< tensor elements, by phase
  /// Additional per-hop sync time by phase, if the phase is quantized (docs/model.md, M4b).
  std::array<double, collectives::kPhases> sync_s{};
};

/// An algorithm in one ring style and, on several axes, either quantized or plain. These determine
/// the elements per link, counted once in a program of the scheme.
struct TuneScheme {
  config::Algorithm algorithm = nullptr;
  collectives::RingStyle ring = collectives::RingStyle::full_loop;
  collectives::Partition partition;
  std::vector<LinkLoad> loads;  ///< links in use only
};

/// Candidates that differ only in microshards; these change no value, so the error is the same.
struct TuneFamily {
  std::size_t scheme = 0;
  config::CollectiveConfig config;  ///< with one microshard
};

/// A family with a number of microshards.
struct TuneCandidate {
  std::size_t family = 0;
  std::uint32_t microshards = 1;
};

/// A scheme that cannot run on this machine.
struct InfeasibleScheme {
  std::string scheme;  ///< "halving-doubling", "torus semi-loop"
  std::string reason;
};

/// All candidates, by scheme and family.
struct TuneSpace {
  std::vector<TuneScheme> schemes;
  std::vector<TuneFamily> families;
  std::vector<TuneCandidate> candidates;
  std::uint64_t duplicates = 0;  ///< omitted candidates with the tiling of another
  std::vector<InfeasibleScheme> infeasible_schemes;
};

/// Elements per strided scale in the space; they determine the minishards of all formats.
inline constexpr std::array<std::uint32_t, 5> kElementsPerScale = {32, 64, 128, 256, 512};
/// Microshards per minishard in the space.
inline constexpr std::array<std::uint32_t, 5> kMicroshards = {1, 2, 4, 8, 16};

/// Formats by name, without repetition; without names bf16, fp32 and all scaled formats but
/// near-duplicates (docs/tuning.md). @throws InputError for an unknown name, suggesting the nearest
std::vector<config::NamedBlockFormat> tune_formats(const std::vector<std::string>& names);

/// `arithmetics`: also with sums rounded once, and added in the order of ranks, where an algorithm
/// can. @throws InputError if the collective has no quantized algorithms or none can run with the
/// formats
TuneSpace enumerate(const config::ExperimentConfig& config,
                    const std::vector<config::NamedBlockFormat>& formats, bool arithmetics = false);

/// The configuration with only this collective, without numerics.
config::ExperimentConfig with_collective(const config::ExperimentConfig& config,
                                         const config::CollectiveConfig& collective);

/// Index of the candidate of a family that has one microshard.
std::size_t first_candidate(std::size_t family);

/// The candidate as a configuration entry.
config::CollectiveConfig config_of(const TuneSpace& space, const TuneCandidate& candidate);

/// Minishards of a chunk of `elements` elements.
std::uint32_t minishards_of(const config::CollectiveConfig& collective, std::uint64_t elements);

/// Calls `visit` with the number of elements of every chunk size of a partition.
template <typename Visit>
void for_each_chunk(const collectives::Partition& partition, Visit visit) {
  for (std::uint32_t segment = 0; segment < partition.segments(); ++segment) {
    const std::size_t kinds = partition.segment(segment).cuts.size();
    for (std::uint32_t uncut = 0; uncut < kinds; ++uncut)
      visit(partition.chunk_elements(segment, uncut));
  }
}

}  // namespace equarx::tune
