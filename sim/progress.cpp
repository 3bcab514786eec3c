#include "sim/progress.hpp"

#include <fmt/format.h>

namespace equarx::sim {
namespace {

/// Describes the positions of the unfinished streams of a chip.
std::string position_of(const Describe& describe, const Machine& machine, const Progress& progress,
                        std::uint32_t rank) {
  std::string text = fmt::format("chip {} (rank {}) at: ", machine.chip_names[rank], rank);
  std::string_view separator;
  for (std::uint32_t stream = 0; stream < progress.streams; ++stream) {
    const Progress::List& list = progress.at(rank, stream);
    const std::string description = list.done ? "" : describe(stream, list.instruction);
    if (description.empty()) continue;
    text += separator;
    text += description;
    separator = " and ";
  }
  return text;
}

bool is_done(const Progress& progress, std::uint32_t rank) {
  for (std::uint32_t stream = 0; stream < progress.streams; ++stream)
    if (!progress.at(rank, stream).done) return false;
  return true;
}

}  // namespace

std::string explain(const Describe& describe, const Machine& machine, const Progress& progress,
                    const std::string& failure) {
  if (!progress.deadlocked)
    return fmt::format("the simulation crashed ({}); last active: {}", failure,
                       position_of(describe, machine, progress, progress.active_rank));
  constexpr std::size_t kShown = 4;
  std::string text = "the simulation deadlocked";
  std::size_t stuck = 0;
  for (std::uint32_t rank = 0; rank < machine.ranks(); ++rank) {
    if (is_done(progress, rank)) continue;
    if (stuck < kShown) text += "; " + position_of(describe, machine, progress, rank);
    ++stuck;
  }
  return stuck > kShown ? fmt::format("{}; and {} more chips", text, stuck - kShown) : text;
}

}  // namespace equarx::sim
