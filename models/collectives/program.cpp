#include "models/collectives/program.hpp"

#include <stdexcept>

#include <fmt/format.h>

namespace equarx::collectives {
namespace {

std::string place(const Tile& tile, bool whole_minishard) {
  const std::string minishard =
      fmt::format("segment {}, minishard {}", tile.segment, tile.minishard);
  return whole_minishard ? minishard : fmt::format("{}, microshard {}", minishard, tile.microshard);
}

}  // namespace

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
    case Op::dequantize: return true;
    case Op::lend:
    case Op::deliver:
    case Op::barrier:
    case Op::send:
    case Op::wait: return false;
  }
  throw std::logic_error("unknown operation");
}

std::string_view name(Op op) {
  switch (op) {
    case Op::find_scales: return "find scales";
    case Op::encode_scales: return "encode scales";
    case Op::quantize: return "quantize";
    case Op::lend: return "lend";
    case Op::accumulate: return "accumulate";
    case Op::add: return "add";
    case Op::dequantize: return "dequantize";
    case Op::deliver: return "deliver";
    case Op::barrier: return "barrier";
    case Op::send: return "send";
    case Op::wait: return "wait";
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
  std::string what;
  if (!transfer) {
    const bool whole = instruction.op == Op::encode_scales || instruction.op == Op::barrier;
    what = fmt::format("{}: {}", name(instruction.op), place(instruction.tile, whole));
  } else {
    const Message& message = program.messages.at(instruction.message);
    const Buffer& buffer = program.buffers.at(message.buffer);
    const bool scales = buffer.content == Content::scales;
    const std::string cargo =
        fmt::format("the {} of {}", scales ? "scales" : "payload", place(buffer.tile, scales));
    what = instruction.op == Op::send
               ? fmt::format("send {} {}", cargo, name(message.direction))
               : fmt::format("wait for {} from {}", cargo, name(opposite(message.direction)));
  }
  return fmt::format("{} ({}, instruction {})", what, name(instruction.phase), id);
}

}  // namespace equarx::collectives
