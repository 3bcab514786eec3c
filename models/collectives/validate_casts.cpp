#include <algorithm>
#include <stdexcept>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include <fmt/format.h>

#include "models/collectives/validate.hpp"

namespace equarx::collectives {
namespace {

[[noreturn]] void fail(std::string_view why) {
  throw std::logic_error(fmt::format("invalid program: {}", why));
}

/// Required order: amax of the own tensor, amax over all ranks, cast, everything else, cast of the
/// result.
int stage_of(const Program& program, const Instruction& instruction) {
  if (instruction.op == Op::find_amax) return 0;
  if (finds_shared_scale(program, instruction)) return 1;
  if (instruction.op == Op::cast) return 2;
  return instruction.op == Op::cast_back ? 4 : 3;
}

bool in_order(const Program& program) {
  return std::ranges::is_sorted(program.instructions, {}, [&](const Instruction& instruction) {
    return stage_of(program, instruction);
  });
}

/// Checks that every rank casts all of each segment without duplicates; for the collective
/// `shards`, only its own shard.
void check_whole(const Program& program, Op op, Collective shards) {
  const Partition& partition = program.partition;
  std::vector<std::tuple<std::uint32_t, Offset, std::uint32_t, std::uint32_t>> tiles;
  std::vector<std::uint64_t> elements(partition.segments());
  for (const Instruction& instruction : program.instructions) {
    if (instruction.op != op) continue;
    const Tile& tile = instruction.tile;
    tiles.emplace_back(tile.segment, tile.shard_offset, tile.minishard, tile.microshard);
    elements.at(tile.segment) += partition.microshard(tile).size();
  }
  std::ranges::sort(tiles);
  if (std::ranges::adjacent_find(tiles) != tiles.end())
    fail(fmt::format("{}: duplicate tile", name(op)));
  for (std::uint32_t segment = 0; segment < partition.segments(); ++segment) {
    const std::uint64_t expected = program.collective == shards
                                       ? partition.chunk_elements(segment)
                                       : partition.segment_elements(segment);
    if (elements[segment] != expected)
      fail(fmt::format("{}: {} of {} elements of segment {}", name(op), elements[segment], expected,
                       segment));
  }
}

/// A rotation is linear, so it requires a sum; and FP32, without a scale computed before it.
void check_rotation(const Program& program) {
  if (!program.cast_from) fail("a rotation without casts");
  if (!adds(program.collective)) fail("a rotation of a collective that does not sum");
  if (program.tensor_format != numerics::ElementFormat::fp32)
    fail("a rotation of a type other than fp32");
  if (numerics::has_shared_scale(program.format(Phase::reduce_scatter)))
    fail("a rotation with a shared scale");
}

}  // namespace

void validate_casts(const Program& program) {
  if (program.rotated) check_rotation(program);
  if (!program.cast_from) {
    if (std::ranges::any_of(program.instructions,
                            [&](const Instruction& one) { return stage_of(program, one) != 3; }))
      fail("a cast without cast_from");
    return;
  }
  if (!in_order(program)) fail("a cast is out of order");
  check_whole(program, Op::cast, Collective::all_gather);
  if (numerics::has_shared_scale(program.format(Phase::reduce_scatter)))
    check_whole(program, Op::find_amax, Collective::all_gather);
  check_whole(program, Op::cast_back, Collective::reduce_scatter);
}

}  // namespace equarx::collectives
