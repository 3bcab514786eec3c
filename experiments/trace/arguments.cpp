#include "experiments/trace/arguments.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>

#include <fmt/format.h>

#include "experiments/trace/events.hpp"

namespace equarx::trace {
namespace {

using collectives::InstructionId;
using collectives::MessageId;
using collectives::Op;
using collectives::Program;
using collectives::Rank;

/// Members that locate a tile of `maker`: shards and chunks are named by the rank that owns them.
std::string tile_members(const Program& program, Rank maker, const collectives::Tile& tile,
                         bool whole_minishard) {
  const std::size_t axes = program.partition.segment(tile.segment).axes.size();
  std::string text = fmt::format(R"("segment":{},)", tile.segment);
  if (tile.uncut < axes)
    text += fmt::format(R"("{}":{},)", tile.uncut == 0 ? "shard" : "chunk_of_rank",
                        program.grid().move(maker, tile.shard_offset));
  text += fmt::format(R"("minishard":{})", tile.minishard);
  if (!whole_minishard) text += fmt::format(R"(,"microshard":{})", tile.microshard);
  return text;
}

/// Members that describe a message sent by `sender`: content, tile, bytes and channel.
std::string message_members(const Program& program, Rank sender, MessageId id) {
  const collectives::Message& message = program.messages[id];
  const collectives::Buffer& buffer = program.buffers[message.buffer];
  if (buffer.content == collectives::Content::amax)
    return fmt::format(R"("content":"{}","bytes":{},"channel":{})", content_name(program, id),
                       program.message_bytes(id, sender),
                       json_quoted(program.channels[message.channel].name));
  const Rank maker = program.writer_of(message.origin, sender);
  return fmt::format(
      R"("content":"{}","phase":"{}",{},"bytes":{},"channel":{})", content_name(program, id),
      name(buffer.phase),
      tile_members(program, maker, buffer.tile, buffer.content == collectives::Content::scales),
      program.message_bytes(id, sender), json_quoted(program.channels[message.channel].name));
}

/// Bytes of the buffer that a vector op writes or reads; of the tensor for ops without a buffer.
std::uint64_t bytes_of(const Program& program, const collectives::Instruction& instruction,
                       Rank rank) {
  constexpr std::array kWithoutBuffer = {Op::find_amax, Op::find_scales,  Op::scale,
                                         Op::store,     Op::add_residual, Op::add_residual_after,
                                         Op::cast,      Op::cast_back};
  if (std::ranges::find(kWithoutBuffer, instruction.op) == kWithoutBuffer.end())
    return program.buffer_bytes(instruction.buffer, program.written(instruction, rank).writer) *
           program.grid().span(instruction.origin.gathered);
  constexpr std::size_t kBitsPerByte = 8;
  return program.microshard(program.written(instruction, rank)).size() *
         numerics::element_bits(program.tensor_format) / kBitsPerByte;
}

}  // namespace

std::string_view content_name(const Program& program, MessageId id) {
  switch (program.buffers[program.messages[id].buffer].content) {
    case collectives::Content::payload: return "payload";
    case collectives::Content::scales: return "scales";
    case collectives::Content::amax: return "amax";
  }
  throw std::logic_error("unknown content");
}

std::string core_arguments(const Program& program, Rank rank, Rank sender, InstructionId id) {
  const collectives::Instruction& instruction = program.instructions[id];
  if (is_transfer(instruction.op))
    return fmt::format(R"({{"instruction":{},{}}})", id,
                       message_members(program, sender, instruction.message));
  if (instruction.op == Op::encode_amax || instruction.op == Op::merge_amax)
    return fmt::format(R"({{"instruction":{},"bytes":{}}})", id,
                       bytes_of(program, instruction, rank));
  const bool whole = instruction.op == Op::encode_scales || instruction.op == Op::barrier;
  std::string text =
      fmt::format(R"({{"instruction":{},"phase":"{}",{})", id, name(instruction.phase),
                  tile_members(program, rank, instruction.tile, whole));
  if (instruction.op != Op::barrier)
    text += fmt::format(R"(,"bytes":{})", bytes_of(program, instruction, rank));
  return text + "}";
}

std::string transfer_arguments(const Program& program, const sim::Machine& machine,
                               const sim::TransferEvent& transfer, double synchronisation_s,
                               bool shared) {
  constexpr double kMicrosecondsPerSecond = 1e6;
  return fmt::format(R"({{{},"from":{},"to":{},"synchronisation_us":{:.6g},"link":"{}"}})",
                     message_members(program, transfer.sender, transfer.message),
                     json_quoted(machine.chip_names[transfer.sender]),
                     json_quoted(machine.chip_names[transfer.receiver]),
                     synchronisation_s * kMicrosecondsPerSecond,
                     shared ? "shared: time in flight" : "FIFO: time it holds the link");
}

}  // namespace equarx::trace
