#include "models/values/rounding_keys.hpp"

#include <cstddef>
#include <limits>

namespace equarx::values {

using collectives::Instruction;
using collectives::Rank;

namespace {

/// Hop of casts: the id of no buffer, and above the numbers of sums.
constexpr std::uint32_t kCastHop = std::numeric_limits<std::uint32_t>::max() - 1;

}  // namespace

void RoundingKeys::note_sums(const Instruction& reduce) {
  summed_.emplace_back(reduce.tile, reduce.origin.gathered);
}

numerics::RoundingKey RoundingKeys::of_buffer(const Instruction& instruction,
                                              const RankTile& tile) const {
  return {.seed = seed_,
          .rank = first_to_encode(instruction, tile.rank),
          .hop = instruction.buffer,
          .first_element = geometry_.first_element() + tile.range.begin};
}

numerics::RoundingKey RoundingKeys::of_cast(const Instruction& instruction,
                                            const RankTile& tile) const {
  numerics::RoundingKey key = of_buffer(instruction, tile);
  key.hop = kCastHop;
  return key;
}

numerics::RoundingKey RoundingKeys::of_sum(const Instruction& instruction,
                                           const RankTile& tile) const {
  const collectives::Program& program = geometry_.program();
  const auto number = static_cast<std::size_t>(&instruction - program.instructions.data());
  numerics::RoundingKey key = of_buffer(instruction, tile);
  key.hop = static_cast<std::uint32_t>(program.buffers.size() + number);
  return key;
}

Rank RoundingKeys::first_to_encode(const Instruction& instruction, Rank rank) const {
  const collectives::RankGrid& grid = geometry_.program().grid();
  const auto to_first = [&](std::size_t axis) {
    return grid.move(rank, grid.reverse(grid.along(axis, grid.coordinate(rank, axis))));
  };
  if (!collectives::gathers(instruction.phase)) {
    const collectives::AxisSet alike = summed_along(instruction.tile);
    for (std::size_t axis = 0; axis < grid.axes(); ++axis)
      if ((alike >> axis & 1U) != 0) rank = to_first(axis);
    return rank;
  }
  const std::vector<std::size_t>& axes =
      geometry_.program().partition.segment(geometry_.lane().segment).axes;
  for (std::uint32_t uncut = 0; uncut < instruction.tile.uncut; ++uncut)
    rank = to_first(axes[axes.size() - 1 - uncut]);
  return rank;
}

collectives::AxisSet RoundingKeys::summed_along(const collectives::Tile& tile) const {
  collectives::AxisSet axes = 0;
  for (const auto& [summed, gathered] : summed_)
    if (summed == tile) axes |= gathered;
  return axes;
}

}  // namespace equarx::values
