#include "models/values/lane_uses.hpp"

#include <algorithm>
#include <functional>
#include <limits>

#include "models/numerics/codec/block_codec.hpp"

namespace equarx::values {
namespace {

using collectives::Buffer;
using collectives::BufferId;
using collectives::Instruction;
using collectives::Op;
using collectives::Rank;

/// First and last instruction that uses something.
struct Span {
  std::size_t first = std::numeric_limits<std::size_t>::max();
  std::size_t last = 0;

  bool used() const { return first <= last; }
  void use(std::size_t instruction) {
    first = std::min(first, instruction);
    last = std::max(last, instruction);
  }
};

bool has_values(Op op) {
  return op != Op::barrier && op != Op::dequantize && op != Op::deliver && op != Op::cast_back &&
         op != Op::add_residual_after && !is_transfer(op);
}

bool has_buffer(Op op) {
  switch (op) {
    case Op::encode_scales:
    case Op::quantize:
    case Op::lend:
    case Op::accumulate:
    case Op::add:
    case Op::reduce:
    case Op::switch_reduce:
    case Op::reduce_shards:
    case Op::decode:
    case Op::dequantize:
    case Op::deliver: return true;
    default: return false;
  }
}

/// Calls `use` with the buffers of an instruction.
void for_each_buffer(const collectives::Program& program, const Instruction& instruction,
                     const std::function<void(BufferId)>& use) {
  const auto with_scales = [&](BufferId id) {
    use(id);
    const Buffer& buffer = program.buffers[id];
    if (buffer.content == collectives::Content::payload &&
        numerics::sends_scales(program.format(buffer.phase)))
      use(buffer.scales);
  };
  if (is_transfer(instruction.op)) return with_scales(program.messages[instruction.message].buffer);
  if (!has_buffer(instruction.op)) return;
  with_scales(instruction.buffer);
  const bool of_shards = instruction.op == Op::reduce_shards || instruction.op == Op::switch_reduce;
  if (of_shards && !program.partition.segment(instruction.tile.segment).axes.empty())
    for (const BufferId id :
         collectives::siblings(program, instruction.buffer, instruction.origin.gathered))
      with_scales(id);
}

/// Encoded and decoded bytes of a buffer in the unit, of all ranks.
std::uint64_t bytes_of(const UnitGeometry& geometry, const Buffer& buffer) {
  const bool scales = buffer.content == collectives::Content::scales;
  const numerics::BlockFormat& format = geometry.program().format(buffer.phase);
  std::uint64_t bytes = 0;
  geometry.for_each_tile(
      buffer.tile, {},
      [&](const RankTile& tile) {
        const std::size_t elements = tile.range.size();
        const std::size_t groups = scales ? numerics::scale_count(format, elements) : 0;
        bytes += scales ? numerics::scales_bytes(format, groups) + groups * sizeof(float)
                        : numerics::held_bytes(format, elements);
      },
      scales ? Extent::minishard : Extent::microshard);
  return bytes;
}

/// Largest sum of sizes in use at the same time.
std::uint64_t most_at_once(const std::vector<Span>& spans, const std::vector<std::uint64_t>& sizes,
                           std::size_t instructions) {
  std::vector<std::uint64_t> begins(instructions + 1);
  std::vector<std::uint64_t> ends(instructions + 1);
  for (std::size_t i = 0; i < spans.size(); ++i) {
    if (!spans[i].used()) continue;
    begins[spans[i].first] += sizes[i];
    ends[spans[i].last + 1] += sizes[i];
  }
  std::uint64_t now = 0;
  std::uint64_t most = 0;
  for (std::size_t i = 0; i < instructions; ++i) {
    now += begins[i];
    now -= ends[i];
    most = std::max(most, now);
  }
  return most;
}

}  // namespace

bool reads_on_demand(const collectives::Program& program, std::uint64_t elements) {
  return collectives::adds(program.collective) && !program.graph && !program.counts &&
         elements * program.ranks() * sizeof(float) > kMuchAtOnce;
}

LaneUses uses_of(const UnitGeometry& geometry) {
  const collectives::Program& program = geometry.program();
  const Lane& lane = geometry.lane();
  std::vector<Span> ranks(program.ranks());
  std::vector<Span> buffers(lane.buffers.size());
  for (std::size_t i = 0; i < lane.instructions.size(); ++i) {
    const Instruction& instruction = program.instructions[lane.instructions[i]];
    if (has_values(instruction.op))
      geometry.for_each_tile(instruction.tile, instruction.ranks,
                             [&](const RankTile& tile) { ranks[tile.rank].use(i); });
    for_each_buffer(program, instruction, [&](BufferId id) {
      const auto at = std::ranges::lower_bound(lane.buffers, id) - lane.buffers.begin();
      buffers[static_cast<std::size_t>(at)].use(i);
    });
  }
  LaneUses uses;
  uses.ranks.resize(lane.instructions.size());
  uses.buffers.resize(lane.instructions.size());
  for (Rank rank = 0; rank < ranks.size(); ++rank)
    if (ranks[rank].used()) uses.ranks[ranks[rank].last].push_back(rank);
  std::vector<std::uint64_t> bytes;
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    if (buffers[i].used()) uses.buffers[buffers[i].last].push_back(lane.buffers[i]);
    bytes.push_back(bytes_of(geometry, program.buffers[lane.buffers[i]]));
  }
  const std::size_t instructions = lane.instructions.size();
  uses.most_ranks = most_at_once(ranks, std::vector<std::uint64_t>(ranks.size(), 1), instructions);
  uses.most_bytes = most_at_once(buffers, bytes, instructions);
  return uses;
}

}  // namespace equarx::values
