#include "models/collectives/program.hpp"

#include <stdexcept>

#include <fmt/format.h>

namespace equarx::collectives {

std::uint32_t neighbour(std::uint32_t rank, Direction direction, std::uint32_t ranks) {
  return direction == Direction::forward ? (rank + 1) % ranks : (rank + ranks - 1) % ranks;
}

Direction opposite(Direction direction) {
  return direction == Direction::forward ? Direction::backward : Direction::forward;
}

bool is_vector_work(Op op) {
  switch (op) {
    case Op::find_scales:
    case Op::encode_scales:
    case Op::quantize:
    case Op::accumulate:
    case Op::add:
    case Op::dequantize:
      return true;
    case Op::lend:
    case Op::deliver:
    case Op::send:
    case Op::wait:
      return false;
  }
  throw std::logic_error("unknown operation");
}

std::string_view name(Op op) {
  switch (op) {
    case Op::find_scales:
      return "find scales";
    case Op::encode_scales:
      return "encode scales";
    case Op::quantize:
      return "quantize";
    case Op::lend:
      return "lend";
    case Op::accumulate:
      return "accumulate";
    case Op::add:
      return "add";
    case Op::dequantize:
      return "dequantize";
    case Op::deliver:
      return "deliver";
    case Op::send:
      return "send";
    case Op::wait:
      return "wait";
  }
  throw std::logic_error("unknown operation");
}

std::string_view name(Phase phase) {
  return phase == Phase::reduce_scatter ? "ReduceScatter" : "AllGather";
}

std::string_view name(Direction direction) {
  return direction == Direction::forward ? "forward" : "backward";
}

std::string describe(const Program& program, InstructionId id) {
  const Instruction& instruction = program.instructions.at(id);
  const bool transfer = instruction.op == Op::send || instruction.op == Op::wait;
  const Tile* tile = &instruction.tile;
  std::string what{name(instruction.op)};
  if (transfer) {
    const Message& message = program.messages.at(instruction.message);
    const Buffer& buffer = program.buffers.at(message.buffer);
    tile = &buffer.tile;
    what += fmt::format(" {} {} the {} of", name(message.direction),
                        instruction.op == Op::send ? "with" : "transfer with",
                        buffer.content == Content::payload ? "payload" : "scales");
  }
  return fmt::format("{} segment {}, minishard {}, microshard {} ({}, instruction {})", what,
                     tile->segment, tile->minishard, tile->microshard, name(instruction.phase), id);
}

}  // namespace equarx::collectives
