#include "models/collectives/all_tiles.hpp"

#include <cstddef>

namespace equarx::collectives {
namespace {

/// Offsets to the shards to visit: along all axes that cut the segment, or only its own.
std::vector<Offset> shard_offsets(const Program& program, std::uint32_t segment, bool own_only) {
  if (own_only) return {0};
  AxisSet axes = 0;
  for (const std::size_t axis : program.partition.segment(segment).axes) axes |= AxisSet{1} << axis;
  return program.grid().offsets(axes);
}

}  // namespace

std::vector<Instruction> on_all_tiles(const Program& program, Op op, bool own_only,
                                      RankRange ranks) {
  std::vector<Instruction> instructions;
  for (std::uint32_t segment = 0; segment < program.partition.segments(); ++segment) {
    const Cut& cut = program.partition.cut(segment);
    for (const Offset shard : shard_offsets(program, segment, own_only))
      for (std::uint32_t minishard = 0; minishard < cut.minishards; ++minishard)
        for (std::uint32_t microshard = 0; microshard < cut.microshards; ++microshard)
          instructions.push_back({.op = op,
                                  .tile = {.shard_offset = shard,
                                           .segment = segment,
                                           .minishard = minishard,
                                           .microshard = microshard},
                                  .ranks = ranks});
  }
  return instructions;
}

}  // namespace equarx::collectives
