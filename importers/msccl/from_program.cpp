#include "importers/msccl/from_program.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/exceptions/exceptions.hpp"
#include "importers/msccl/dependencies.hpp"

namespace equarx::schedules {
namespace {

using collectives::BufferId;
using collectives::Instruction;
using collectives::InstructionId;
using collectives::Message;
using collectives::Origin;
using collectives::Program;
using collectives::Range;
using collectives::Tile;
using exceptions::UserError;
using RankId = collectives::Rank;
using ProgramOp = collectives::Op;

/// A buffer together with the rank that produced it.
using Made = std::pair<BufferId, RankId>;

constexpr std::uint64_t kMostChunksWritten = 1U << 16U;

Collective collective_of(collectives::Collective collective) {
  switch (collective) {
    case collectives::Collective::all_reduce: return Collective::all_reduce;
    case collectives::Collective::reduce_scatter: return Collective::reduce_scatter;
    case collectives::Collective::all_gather: return Collective::all_gather;
    case collectives::Collective::all_to_all: return Collective::all_to_all;
    case collectives::Collective::broadcast: return Collective::broadcast;
    case collectives::Collective::neighbor_average: break;
  }
  return Collective::custom;
}

void check_plain(const Program& program) {
  for (const collectives::Channel& channel : program.channels)
    if (channel.ports != collectives::Ports::both)
      throw UserError("", "it sums in a switch, which MSCCL cannot express; use another algorithm");
  if (program.graph)
    throw UserError("", "it adds tensors with weights, which MSCCL cannot express; use all-reduce");
  if (program.cast_from)
    throw UserError("",
                    "it casts the tensor before sending it, which MSCCL cannot express; keep the "
                    "tensor's type");
  for (const Instruction& instruction : program.instructions) {
    const numerics::BlockFormat& format = program.format(instruction.phase);
    if (format.scaled || format.element != program.tensor_format)
      throw UserError(
          "",
          fmt::format("it sends a format other than the tensor's, {}, which MSCCL cannot express; "
                      "use that format",
                      numerics::name(program.tensor_format)));
  }
}

/// Returns the elements of the whole tensor covered by a tile, relative to a rank.
Range elements_of(const Program& program, RankId rank, const Tile& tile) {
  const collectives::Partition& partition = program.partition;
  const std::uint64_t begin =
      partition.segment_begin(tile.segment) +
      partition.chunk_begin(tile.segment, tile.uncut, program.grid().move(rank, tile.shard_offset));
  const Range within = partition.microshard(tile);
  return {begin + within.begin, begin + within.end};
}

/// Returns the elements per chunk: the greatest common divisor of all tile boundaries.
std::uint64_t chunk_elements(const Program& program) {
  std::uint64_t divisor = program.partition.elements();
  const auto add = [&](const Range& range) {
    if (range.end > program.partition.elements())
      throw UserError(
          "",
          fmt::format("it pads its tensor of {} elements, which a schedule cannot express; use a "
                      "size that divides evenly",
                      program.partition.elements()));
    divisor = std::gcd(divisor, std::gcd(range.begin, range.end));
  };
  for (RankId rank = 0; rank < program.ranks(); ++rank)
    for (const collectives::Buffer& buffer : program.buffers)
      add(elements_of(program, rank, buffer.tile));
  if (program.partition.elements() / divisor > kMostChunksWritten)
    throw UserError("",
                    fmt::format("it splits its tensor so unevenly that it needs {} chunks, more "
                                "than {}; use a size that divides evenly, or fewer minishards and "
                                "microshards",
                                program.partition.elements() / divisor, kMostChunksWritten));
  return divisor;
}

/// Returns the producing ranks of an origin, relative to a rank.
std::vector<RankId> makers(const Program& program, RankId rank, const Origin& origin) {
  if (origin.root) return {0};
  const collectives::RankGrid& grid = program.grid();
  std::vector<RankId> ranks;
  for (const collectives::Offset offset : grid.offsets(origin.gathered))
    ranks.push_back(grid.move(grid.move(rank, origin.offset), offset));
  std::ranges::sort(ranks);
  return ranks;
}

/// Returns the buffers that an instruction reads.
std::vector<Made> reads_of(const Program& program, RankId rank, const Instruction& instruction) {
  std::vector<Made> made;
  switch (instruction.op) {
    case ProgramOp::accumulate:
    case ProgramOp::add:
    case ProgramOp::reduce:
    case ProgramOp::decode:
    case ProgramOp::dequantize:
    case ProgramOp::deliver:
      for (const RankId maker : makers(program, rank, instruction.origin))
        made.emplace_back(instruction.buffer, maker);
      break;
    case ProgramOp::reduce_shards: {
      const auto axes = instruction.origin.gathered;
      const std::vector<BufferId> siblings =
          collectives::siblings(program, instruction.buffer, axes);
      const std::vector<collectives::Offset> offsets = program.grid().offsets(axes);
      for (const RankId maker : makers(program, rank, instruction.origin)) {
        const auto at = std::ranges::find(offsets, program.grid().difference(rank, maker));
        made.emplace_back(siblings[static_cast<std::size_t>(at - offsets.begin())], maker);
      }
      break;
    }
    default: break;
  }
  return made;
}

/// Removes empty thread blocks and unused peers, and renumbers dependencies accordingly.
std::vector<ThreadBlock> used_blocks(const std::vector<ThreadBlock>& all) {
  std::vector<std::uint32_t> number(all.size());
  std::vector<ThreadBlock> used;
  for (std::size_t i = 0; i < all.size(); ++i) {
    number[i] = static_cast<std::uint32_t>(used.size());
    if (!all[i].steps.empty()) used.push_back(all[i]);
  }
  for (ThreadBlock& block : used) {
    for (Step& step : block.steps)
      if (step.after) step.after->block = number[step.after->block];
    const auto any = [&](bool (*takes_part)(Op)) {
      return std::ranges::any_of(block.steps,
                                 [&](const Step& step) { return takes_part(step.op); });
    };
    if (!any(sends)) block.send_to.reset();
    if (!any(receives)) block.receive_from.reset();
  }
  return used;
}

bool adds_one(ProgramOp op) { return op == ProgramOp::add || op == ProgramOp::accumulate; }
bool adds_all(ProgramOp op) { return op == ProgramOp::reduce || op == ProgramOp::reduce_shards; }

/// Builds the thread blocks of one rank.
class RankExport {
 public:
  RankExport(const Program& program, RankId rank, std::uint64_t chunk, Memory from, Memory to)
      : program_(program),
        rank_(rank),
        chunk_(chunk),
        from_(from),
        to_(to),
        writer_(empty_blocks()) {
    for (InstructionId id = 0; id < program.instructions.size(); ++id)
      if (program.instructions[id].ranks.contains(rank))
        for (const Made& made : reads_of(program, rank, program.instructions[id]))
          uses_.emplace(made, id);
  }

  Rank write() {
    for (const Instruction& instruction : program_.instructions)
      if (instruction.ranks.contains(rank_)) carry_out(instruction);
    return {.chunks = {0, 0, scratch_}, .blocks = used_blocks(writer_.blocks())};
  }

 private:
  std::vector<ThreadBlock> empty_blocks() const {
    std::vector<ThreadBlock> blocks;
    std::map<collectives::Offset, std::uint32_t> seen;
    for (const collectives::Channel& channel : program_.channels)
      blocks.push_back(
          {.send_to = program_.grid().move(rank_, channel.offset),
           .receive_from = program_.grid().move(rank_, program_.grid().reverse(channel.offset)),
           .channel = seen[channel.offset]++});
    return blocks;
  }

  Location location_of(const Tile& tile, Memory memory) const {
    return {memory, static_cast<std::uint32_t>(elements_of(program_, rank_, tile).begin / chunk_)};
  }
  /// Location of a buffer in the result: the same as at its producer, or the producer's shard for
  /// an AllToAll.
  Location result_of(const Made& made) const {
    Tile tile = program_.buffers[made.first].tile;
    if (program_.collective == collectives::Collective::all_to_all) tile.shard_offset = 0;
    return {to_,
            static_cast<std::uint32_t>(elements_of(program_, made.second, tile).begin / chunk_)};
  }
  std::uint32_t count_of(BufferId buffer) const {
    return static_cast<std::uint32_t>(
        program_.partition.microshard(program_.buffers[buffer].tile).size() / chunk_);
  }

  void carry_out(const Instruction& instruction) {
    switch (instruction.op) {
      case ProgramOp::lend:
      case ProgramOp::quantize:
        locations_[{instruction.buffer, rank_}] = location_of(instruction.tile, from_);
        break;
      case ProgramOp::send: send(program_.messages[instruction.message]); break;
      case ProgramOp::wait: receive(program_.messages[instruction.message]); break;
      case ProgramOp::reduce:
      case ProgramOp::reduce_shards: add_all(instruction); break;
      case ProgramOp::decode:
      case ProgramOp::dequantize:
      case ProgramOp::deliver: put(instruction); break;
      default: break;  // sums stay where they were added; plain formats have no scales
    }
  }

  void send(const Message& message) {
    for (const RankId maker : makers(program_, rank_, message.origin))
      writer_.add(message.channel, {.op = Op::send,
                                    .source = locations_.at({message.buffer, maker}),
                                    .count = count_of(message.buffer)});
  }

  /// Receives the producers' buffers in the order of the sender.
  void receive(const Message& message) {
    const collectives::Offset back =
        program_.grid().reverse(program_.channels[message.channel].offset);
    for (const RankId maker : makers(program_, program_.grid().move(rank_, back), message.origin)) {
      const Made made{message.buffer, maker};
      const std::uint32_t count = count_of(message.buffer);
      const auto use = uses_.find(made);
      const Instruction* used = use == uses_.end() ? nullptr : &program_.instructions[use->second];
      arrived_in_[made] = message.channel;
      if (used != nullptr && adds_one(used->op)) {
        const Location sum = location_of(used->tile, from_);
        writer_.add(
            message.channel,
            {.op = Op::receive_reduce_copy, .source = sum, .destination = sum, .count = count});
        locations_[made] = sum;
        continue;
      }
      const bool to_result = used != nullptr && !adds_all(used->op);
      const Location location = to_result ? result_of(made) : take_scratch(count);
      writer_.add(message.channel, {.op = Op::receive, .destination = location, .count = count});
      locations_[made] = location;
    }
  }

  Location take_scratch(std::uint32_t count) {
    return {Memory::scratch, std::exchange(scratch_, scratch_ + count)};
  }

  /// Adds all other terms to the rank's own, which is already at the location of the sum.
  void add_all(const Instruction& instruction) {
    const Location sum = location_of(instruction.tile, from_);
    for (const Made& made : reads_of(program_, rank_, instruction)) {
      const Location term = locations_.at(made);
      if (term == sum) continue;
      writer_.add(
          arrived_in_.at(made),
          {.op = Op::reduce, .source = term, .destination = sum, .count = count_of(made.first)});
    }
  }

  void put(const Instruction& instruction) {
    for (const Made& made : reads_of(program_, rank_, instruction)) {
      const Location location = locations_.at(made);
      const Location result = result_of(made);
      if (location == result) continue;
      const auto arrived = arrived_in_.find(made);
      writer_.add(arrived == arrived_in_.end() ? 0 : arrived->second,
                  {.op = Op::copy,
                   .source = location,
                   .destination = result,
                   .count = count_of(made.first)});
    }
  }

  const Program& program_;
  RankId rank_;
  std::uint64_t chunk_;  ///< elements
  Memory from_;
  Memory to_;
  RankWriter writer_;
  std::map<Made, InstructionId> uses_;        ///< first instruction that reads the buffer
  std::map<Made, Location> locations_;        ///< current location of the buffer
  std::map<Made, std::uint32_t> arrived_in_;  ///< thread block that received the buffer
  std::uint32_t scratch_ = 0;
};

}  // namespace

Schedule from_program(const Program& program) {
  check_plain(program);
  const std::uint64_t chunk = chunk_elements(program);
  Schedule schedule{.collective = collective_of(program.collective),
                    .protocol = Protocol::simple,
                    .chunks = static_cast<std::uint32_t>(program.partition.elements() / chunk)};
  const bool apart = schedule.collective == Collective::all_to_all;
  schedule.in_place = !apart;
  schedule.out_of_place = apart;
  // Whole buffer: in place, the input of an AllGather is a part of its output.
  const Memory from =
      schedule.collective == Collective::all_gather ? Memory::output : Memory::input;
  for (RankId rank = 0; rank < program.ranks(); ++rank) {
    schedule.ranks.push_back(
        RankExport(program, rank, chunk, from, apart ? Memory::output : from).write());
  }
  for (std::uint32_t rank = 0; rank < program.ranks(); ++rank)
    for (const Memory memory : {Memory::input, Memory::output})
      schedule.ranks[rank].chunks[static_cast<std::size_t>(memory)] =
          memory_chunks(schedule, rank, memory);
  return schedule;
}

}  // namespace equarx::schedules
