#include "models/collectives/casts.hpp"

#include <algorithm>
#include <iterator>
#include <stdexcept>
#include <utility>
#include <vector>

#include "models/collectives/amax_exchange.hpp"
#include "models/collectives/validate.hpp"

namespace equarx::collectives {
namespace {

/// Offsets to the shards that a rank casts: along all axes that cut the segment, or only its own.
std::vector<Offset> shard_offsets(const Program& program, std::uint32_t segment, bool own_only) {
  if (own_only) return {0};
  AxisSet axes = 0;
  for (const std::size_t axis : program.partition.segment(segment).axes) axes |= AxisSet{1} << axis;
  return program.grid().offsets(axes);
}

/// Returns one instruction per microshard of the tensor, or of a rank's own shard.
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

}  // namespace

Program with_casts(Program program, numerics::ElementFormat from, bool rotated, Casts casts) {
  if (program.cast_from) throw std::logic_error("the program already has casts");
  program.cast_from = from;
  program.rotated = rotated;
  program.casts = casts;
  const Collective collective = program.collective;
  const RankRange inputs = collective == Collective::broadcast ? RankRange{0, 0} : RankRange{};
  const bool shard_only = collective == Collective::all_gather;
  std::vector<Instruction> inner = std::exchange(program.instructions, {});
  const auto append = [&](const std::vector<Instruction>& more) {
    std::ranges::copy(more, std::back_inserter(program.instructions));
  };
  if (numerics::has_shared_scale(program.format(Phase::reduce_scatter))) {
    append(on_all_tiles(program, Op::find_amax, shard_only, inputs));
    append_amax_exchange(program);
  }
  append(on_all_tiles(program, Op::cast, shard_only, inputs));
  append(inner);
  append(on_all_tiles(program, Op::cast_back, collective == Collective::reduce_scatter, {}));
  validate(program);
  return program;
}

}  // namespace equarx::collectives
