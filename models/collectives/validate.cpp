#include "models/collectives/validate.hpp"

#include <array>
#include <cstddef>
#include <deque>
#include <stdexcept>
#include <string_view>
#include <vector>

#include <fmt/format.h>

namespace equarx::collectives {
namespace {

class Validator {
 public:
  explicit Validator(const Program& program)
      : program_(program),
        sent_(program.messages.size()),
        made_(program.buffers.size()),
        held_(program.buffers.size()),
        delivered_(tile_count()) {}

  void run() {
    for (at_ = 0; at_ < program_.instructions.size(); ++at_) check(program_.instructions[at_]);
    at_ = 0;
    for (const auto& queue : in_flight_)
      if (!queue.empty()) fail("a message is never waited for");
    for (std::size_t message = 0; message < sent_.size(); ++message)
      if (!sent_[message]) fail("a message is never sent");
    for (const bool delivered : delivered_)
      if (!delivered) fail("a tile never reaches the result");
  }

 private:
  void check(const Instruction& instruction) {
    switch (instruction.op) {
      case Op::send:
        return check_send(instruction.message);
      case Op::wait:
        return check_wait(instruction.message);
      case Op::find_scales:
        return;
      case Op::encode_scales:
      case Op::quantize:
      case Op::lend:
        if (made_.at(instruction.buffer)) fail("a buffer is made twice");
        made_[instruction.buffer] = held_[instruction.buffer] = true;
        return;
      case Op::accumulate:
      case Op::add:
        return need_buffer(instruction.buffer);
      case Op::dequantize:
      case Op::deliver:
        need_buffer(instruction.buffer);
        return check_delivery(instruction.tile);
    }
  }

  void check_send(MessageId id) {
    const Message& message = program_.messages.at(id);
    if (sent_[id]) fail("a message is sent twice");
    need_buffer(message.buffer);
    sent_[id] = true;
    in_flight_[static_cast<std::size_t>(message.direction)].push_back(id);
  }

  void check_wait(MessageId id) {
    const Message& message = program_.messages.at(id);
    auto& queue = in_flight_[static_cast<std::size_t>(message.direction)];
    if (queue.empty() || queue.front() != id) fail("a wait is out of the order of sends");
    queue.pop_front();
    held_[message.buffer] = true;
  }

  void check_delivery(const Tile& tile) {
    const Partition& partition = program_.partition;
    const std::size_t index =
        ((std::size_t{tile.shard_offset} * partition.segments() + tile.segment) *
             partition.minishards() +
         tile.minishard) *
            partition.microshards() +
        tile.microshard;
    if (delivered_.at(index)) fail("a tile is delivered twice");
    delivered_[index] = true;
  }

  void need_buffer(BufferId buffer) {
    if (!held_.at(buffer)) fail("a buffer is read before it is there");
  }

  std::size_t tile_count() const {
    const Partition& partition = program_.partition;
    return std::size_t{program_.ranks} * partition.segments() * partition.minishards() *
           partition.microshards();
  }

  [[noreturn]] void fail(std::string_view why) const {
    throw std::logic_error(fmt::format("wrong program: {} ({})", why, describe(program_, at_)));
  }

  const Program& program_;
  std::vector<bool> sent_;
  std::vector<bool> made_;
  std::vector<bool> held_;  // made here or arrived
  std::vector<bool> delivered_;
  std::array<std::deque<MessageId>, kDirections> in_flight_;
  InstructionId at_ = 0;
};

}  // namespace

void validate(const Program& program) { Validator(program).run(); }

}  // namespace equarx::collectives
