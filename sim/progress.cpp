#include "sim/progress.hpp"

#include <fmt/format.h>

namespace equarx::sim {
namespace {

std::string place_of(const collectives::Program& program, const Machine& machine,
                     const Progress& progress, std::uint32_t rank) {
  return fmt::format("chip {} (rank {}) at: {}", machine.chip_names[rank], rank,
                     describe(program, progress.chips[rank].instruction));
}

}  // namespace

std::string explain(const collectives::Program& program, const Machine& machine,
                    const Progress& progress, const std::string& failure) {
  if (!progress.deadlocked)
    return fmt::format("the simulation crashed ({}); last active: {}", failure,
                       place_of(program, machine, progress, progress.active_rank));
  constexpr std::size_t kShown = 4;
  std::string text = "the simulation deadlocked";
  std::size_t stuck = 0;
  for (std::uint32_t rank = 0; rank < machine.ranks(); ++rank) {
    if (progress.chips[rank].done) continue;
    if (stuck < kShown) text += "; " + place_of(program, machine, progress, rank);
    ++stuck;
  }
  return stuck > kShown ? fmt::format("{}; and {} more chips", text, stuck - kShown) : text;
}

}  // namespace equarx::sim
