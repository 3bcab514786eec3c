// What `tune` chooses among: algorithms, ring styles, phases, formats, minishards and microshards.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "experiments/config/config.hpp"
#include "models/collectives/program.hpp"

namespace equarx::tune {

/// What one link direction moves, whatever the format.
struct LinkLoad {
  double rate = 0.0;                                    ///< B/s
  std::array<double, collectives::kPhases> elements{};  ///< of the tensor, by phase
  /// Time that it is held besides, by phase, if the phase is quantized (docs/model.md, M4b).
  std::array<double, collectives::kPhases> sync_s{};
};

/// An algorithm in one ring style, and on several axes either quantized or plain. How many elements cross
/// which link depends on nothing else, so it is counted once, in a program of the scheme.
struct TuneScheme {
  config::Algorithm algorithm = nullptr;
  collectives::RingStyle ring = collectives::RingStyle::full_loop;
  collectives::Partition partition;
  std::vector<LinkLoad> loads;  ///< of the links that are used
};

/// Candidates that differ in microshards alone, which do not change any value: they have one error.
struct TuneFamily {
  std::size_t scheme = 0;
  config::CollectiveConfig config;  ///< with one microshard
};

/// A way to do the collective: a family, cut into so many microshards.
struct TuneCandidate {
  std::size_t family = 0;
  std::uint32_t microshards = 1;
};

/// A scheme that cannot run here.
struct UnsuitedScheme {
  std::string scheme;  ///< "halving-doubling", "torus semi-loop"
  std::string reason;
};

/// All candidates, by scheme and family.
struct TuneSpace {
  std::vector<TuneScheme> schemes;
  std::vector<TuneFamily> families;
  std::vector<TuneCandidate> candidates;
  std::uint64_t duplicates = 0;  ///< candidates left out because others cut the tensor alike
  std::vector<UnsuitedScheme> unsuited;
};

/// Elements per scale that are tried (of strided scales; they choose the minishards of all formats).
inline constexpr std::array<std::uint32_t, 5> kElementsPerScale = {32, 64, 128, 256, 512};
/// Microshards in a minishard that are tried.
inline constexpr std::array<std::uint32_t, 5> kMicroshards = {1, 2, 4, 8, 16};

/// Formats by name, each once; without names, bf16, fp32 and every one with scales but those that have a
/// twin among them (docs/tuning.md).
/// @throws InputError for a name that is not known, with the nearest.
std::vector<config::NamedBlockFormat> tune_formats(const std::vector<std::string>& names);

/// @throws InputError if the collective has no quantized algorithms, or none can run with the formats.
TuneSpace enumerate(const config::ExperimentConfig& config,
                    const std::vector<config::NamedBlockFormat>& formats);

/// The configuration with this collective alone, timing only.
config::ExperimentConfig with_collective(const config::ExperimentConfig& config,
                                         const config::CollectiveConfig& collective);

/// The candidate as a configuration has it.
config::CollectiveConfig config_of(const TuneSpace& space, const TuneCandidate& candidate);

/// Minishards of a chunk of `elements` elements.
std::uint32_t minishards_of(const config::CollectiveConfig& collective, std::uint64_t elements);

/// Calls `visit` with the elements of every kind of chunk of a partition.
template <typename Visit>
void for_each_chunk(const collectives::Partition& partition, Visit visit) {
  for (std::uint32_t segment = 0; segment < partition.segments(); ++segment) {
    const std::size_t kinds = partition.segment(segment).cuts.size();
    for (std::uint32_t uncut = 0; uncut < kinds; ++uncut)
      visit(partition.chunk_elements(segment, uncut));
  }
}

}  // namespace equarx::tune
