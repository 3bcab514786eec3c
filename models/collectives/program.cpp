#include "models/collectives/program.hpp"

#include <algorithm>
#include <stdexcept>

#include <fmt/format.h>

namespace equarx::collectives {
namespace {

std::string describe_part(const Tile& tile, bool whole_minishard) {
  const std::string minishard =
      fmt::format("segment {}, minishard {}", tile.segment, tile.minishard);
  return whole_minishard ? minishard : fmt::format("{}, microshard {}", minishard, tile.microshard);
}

/// The part of a range of a tile's chunk that the rows of its pair of ranks fill.
Range existing(const Program& program, const Range& range, const WrittenTile& written) {
  if (!program.counts) return range;
  const RowCounts& counts = *program.counts;
  const Rank receiver = program.grid().move(written.writer, written.tile.shard_offset);
  const std::size_t pair = std::size_t{written.writer} * program.ranks() + receiver;
  const bool first = written.first_rows && !counts.first_rows.empty();
  const std::uint64_t end =
      counts.row_elements * (first ? counts.first_rows[pair] : counts.rows[pair]);
  return {std::min(range.begin, end), std::min(range.end, end)};
}

/// Bytes of a buffer with the elements of a tile.
std::uint64_t encoded_bytes(const Program& program, BufferId id, const WrittenTile& tile) {
  const Buffer& buffer = program.buffers[id];
  const numerics::BlockFormat& wire = program.format(buffer.phase);
  return buffer.content == Content::payload
             ? numerics::payload_bytes(wire, program.microshard(tile).size())
             : numerics::scales_bytes(wire,
                                      numerics::scale_count(wire, program.minishard(tile).size()));
}

}  // namespace

const Tile& Program::tile(const Instruction& instruction) const {
  return is_transfer(instruction.op) ? buffers[messages[instruction.message].buffer].tile
                                     : instruction.tile;
}

std::uint32_t most_rows(const RowCounts& counts) {
  return counts.rows.empty() ? 0 : std::ranges::max(counts.rows);
}

Range Program::microshard(const WrittenTile& written) const {
  return existing(*this, partition.microshard(written.tile), written);
}

Range Program::minishard(const WrittenTile& written) const {
  return existing(*this, partition.minishard(written.tile), written);
}

WrittenTile Program::written(const Instruction& instruction, Rank rank) const {
  if (is_transfer(instruction.op)) {
    const Message& message = messages[instruction.message];
    const Origin origin = instruction.op == Op::send ? message.origin : received(message);
    return {buffers[message.buffer].tile, writer_of(origin, rank), message.first_rows};
  }
  if (instruction.op == Op::deliver || instruction.op == Op::dequantize)
    return {buffers[instruction.buffer].tile, writer_of(instruction.origin, rank)};
  return {instruction.tile, rank};
}

bool Program::runs(const Instruction& instruction, Rank rank) const {
  if (!instruction.ranks.contains(rank)) return false;
  if (!counts) return true;
  const bool whole = instruction.op == Op::encode_scales ||
                     (is_transfer(instruction.op) &&
                      buffers[messages[instruction.message].buffer].content == Content::scales);
  const WrittenTile tile = written(instruction, rank);
  return (whole ? minishard(tile) : microshard(tile)).size() > 0;
}

std::uint64_t Program::buffer_bytes(BufferId id, Rank writer) const {
  const Buffer& buffer = buffers[id];
  if (!counts || buffer.content == Content::amax) return buffer.bytes;
  return encoded_bytes(*this, id, {buffer.tile, writer});
}

std::uint64_t Program::message_bytes(MessageId id, Rank sender) const {
  if (!counts) return message_bytes(id);
  const Message& message = messages[id];
  const WrittenTile written{buffers[message.buffer].tile, writer_of(message.origin, sender),
                            message.first_rows};
  return encoded_bytes(*this, message.buffer, written) + message.extra_bytes;
}

std::uint64_t Program::message_bytes(MessageId message) const {
  const Message& sent = messages[message];
  const std::uint64_t bytes = buffers[sent.buffer].bytes;
  if (sent.origin.gathered == 0) return bytes + sent.extra_bytes;
  return bytes * grid().span(sent.origin.gathered) + sent.extra_bytes;
}

Origin Program::received(const Message& message) const {
  if (message.origin.root) return message.origin;
  return {grid().difference(message.origin.offset, channels[message.channel].offset),
          message.origin.gathered, false};
}

bool is_transfer(Op op) { return op == Op::send || op == Op::wait; }

bool is_vector_work(Op op) {
  switch (op) {
    case Op::find_amax:
    case Op::encode_amax:
    case Op::merge_amax:
    case Op::cast:
    case Op::find_scales:
    case Op::encode_scales:
    case Op::quantize:
    case Op::scale:
    case Op::accumulate:
    case Op::add:
    case Op::reduce:
    case Op::reduce_shards:
    case Op::decode:
    case Op::dequantize:
    case Op::store:
    case Op::add_residual:
    case Op::add_residual_after:
    case Op::cast_back: return true;
    case Op::lend:
    case Op::switch_reduce:
    case Op::deliver:
    case Op::barrier:
    case Op::send:
    case Op::wait: return false;
  }
  throw std::logic_error("unknown operation");
}

bool finds_shared_scale(const Program& program, const Instruction& instruction) {
  switch (instruction.op) {
    case Op::find_amax:
    case Op::encode_amax:
    case Op::merge_amax: return true;
    case Op::send:
    case Op::wait:
      return program.buffers[program.messages[instruction.message].buffer].content == Content::amax;
    default: return false;
  }
}

bool adds(Collective collective) {
  return collective == Collective::all_reduce || collective == Collective::reduce_scatter;
}

bool differs_by_rank(Collective collective) {
  return collective == Collective::all_to_all || collective == Collective::neighbor_average;
}

std::string_view name(Collective collective) {
  switch (collective) {
    case Collective::all_reduce: return "AllReduce";
    case Collective::reduce_scatter: return "ReduceScatter";
    case Collective::all_gather: return "AllGather";
    case Collective::all_to_all: return "AllToAll";
    case Collective::broadcast: return "Broadcast";
    case Collective::neighbor_average: return "NeighborAverage";
  }
  throw std::logic_error("unknown collective");
}

std::string_view name(Op op) {
  switch (op) {
    case Op::find_amax: return "find amax";
    case Op::encode_amax: return "encode amax";
    case Op::merge_amax: return "merge amax";
    case Op::cast: return "cast";
    case Op::find_scales: return "find scales";
    case Op::encode_scales: return "encode scales";
    case Op::quantize: return "quantize";
    case Op::lend: return "lend";
    case Op::scale: return "scale";
    case Op::accumulate: return "accumulate";
    case Op::add: return "add";
    case Op::reduce: return "reduce";
    case Op::switch_reduce: return "reduce in the switch";
    case Op::reduce_shards: return "reduce shards";
    case Op::decode: return "decode";
    case Op::dequantize: return "dequantize";
    case Op::deliver: return "deliver";
    case Op::store: return "store";
    case Op::add_residual: return "add residual";
    case Op::add_residual_after: return "add residual to the result";
    case Op::cast_back: return "cast back";
    case Op::barrier: return "barrier";
    case Op::send: return "send";
    case Op::wait: return "wait";
  }
  throw std::logic_error("unknown operation");
}

std::uint32_t stream_count(const Program& program) {
  std::uint32_t last = 0;
  for (const Instruction& instruction : program.instructions)
    last = std::max(last, instruction.stream);
  return last + 1;
}

std::vector<BufferId> siblings(const Program& program, BufferId buffer, AxisSet axes) {
  const std::vector<Offset> offsets = program.grid().offsets(axes);
  Buffer wanted = program.buffers.at(buffer);
  std::vector<BufferId> found;
  for (BufferId id = buffer; id < program.buffers.size() && found.size() < offsets.size(); ++id) {
    wanted.tile.shard_offset = offsets[found.size()];
    const Buffer& other = program.buffers[id];
    if (other.content == wanted.content && other.phase == wanted.phase && other.tile == wanted.tile)
      found.push_back(id);
  }
  if (found.size() != offsets.size())
    throw std::logic_error("invalid program: a shard has no buffer to reduce");
  return found;
}

std::string_view name(Phase phase) {
  switch (phase) {
    case Phase::reduce_scatter: return "ReduceScatter";
    case Phase::all_gather: return "AllGather";
    case Phase::reduce_scatter_between: return "ReduceScatter between slices";
    case Phase::all_gather_between: return "AllGather between slices";
  }
  throw std::logic_error("unknown phase");
}

bool gathers(Phase phase) {
  return phase == Phase::all_gather || phase == Phase::all_gather_between;
}

std::string describe_cargo(const Program& program, MessageId message) {
  const Buffer& buffer = program.buffers.at(program.messages.at(message).buffer);
  if (buffer.content == Content::amax) return "an amax for the shared scale";
  const bool scales = buffer.content == Content::scales;
  return fmt::format("the {} of {}", scales ? "scales" : "payload",
                     describe_part(buffer.tile, scales));
}

std::string describe_awaited(const Program& program, InstructionId id) {
  const Instruction& instruction = program.instructions.at(id);
  const Message& message = program.messages.at(instruction.message);
  return fmt::format("{}, sent {} ({}, instruction {})",
                     describe_cargo(program, instruction.message),
                     program.channels.at(message.channel).name, name(instruction.phase), id);
}

std::string describe(const Program& program, InstructionId id) {
  const Instruction& instruction = program.instructions.at(id);
  if (instruction.op == Op::wait) return "wait for " + describe_awaited(program, id);
  std::string text;
  if (instruction.op == Op::send) {
    const Message& message = program.messages.at(instruction.message);
    text = fmt::format("send {} {}", describe_cargo(program, instruction.message),
                       program.channels.at(message.channel).name);
  } else if (instruction.op == Op::encode_amax || instruction.op == Op::merge_amax) {
    text = name(instruction.op);
  } else {
    const bool whole = instruction.op == Op::encode_scales || instruction.op == Op::barrier;
    text = fmt::format("{}: {}", name(instruction.op), describe_part(instruction.tile, whole));
  }
  return fmt::format("{} ({}, instruction {})", text, name(instruction.phase), id);
}

}  // namespace equarx::collectives
