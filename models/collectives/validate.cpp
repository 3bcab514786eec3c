#include "models/collectives/validate.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
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
        sends_(program.buffers.size()),
        arrivals_(program.buffers.size()),
        delivered_(tile_count()) {}

  void run() {
    for (at_ = 0; at_ < program_.instructions.size(); ++at_) check(program_.instructions[at_]);
    for (const auto& queue : in_flight_)
      if (!queue.empty()) fail(fmt::format("message {} is never waited for", queue.front()));
    for (std::size_t message = 0; message < sent_.size(); ++message)
      if (!sent_[message]) fail(fmt::format("message {} is never sent", message));
    for (std::size_t tile = 0; tile < delivered_.size(); ++tile)
      if (!delivered_[tile]) fail(fmt::format("tile {} never reaches the result", tile));
  }

 private:
  void check(const Instruction& instruction) {
    switch (instruction.op) {
      case Op::send: return check_send(instruction.message);
      case Op::wait: return check_wait(instruction.message);
      case Op::find_scales:
      case Op::barrier: return;
      case Op::encode_scales:
      case Op::quantize:
      case Op::lend:
        if (made_.at(instruction.buffer)) fail("a buffer is made twice");
        need_scales(instruction);
        made_[instruction.buffer] = true;
        return;
      case Op::accumulate:
      case Op::add: return need_buffer(instruction);
      case Op::dequantize:
      case Op::deliver: need_buffer(instruction); return check_delivery(instruction.tile);
    }
  }

  void check_send(MessageId id) {
    const Message& message = program_.messages.at(id);
    if (sent_[id]) fail("a message is sent twice");
    // The first transfer of a buffer in a direction carries the rank's own; each later one passes
    // on what the one before brought.
    const auto direction = static_cast<std::size_t>(message.direction);
    const std::uint32_t hops = sends_[message.buffer][direction]++;
    if (hops == 0 ? !made_[message.buffer] : arrivals_[message.buffer][direction] < hops)
      fail("a buffer is sent before it is there");
    sent_[id] = true;
    in_flight_[static_cast<std::size_t>(message.direction)].push_back(id);
  }

  void check_wait(MessageId id) {
    const Message& message = program_.messages.at(id);
    auto& queue = in_flight_[static_cast<std::size_t>(message.direction)];
    if (queue.empty() || queue.front() != id) fail("a wait is out of the order of sends");
    queue.pop_front();
    ++arrivals_[message.buffer][static_cast<std::size_t>(message.direction)];
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

  void need_buffer(const Instruction& instruction) const {
    if (!holds(instruction.buffer, instruction.tile)) fail("a buffer is read before it is there");
    need_scales(instruction);
  }

  void need_scales(const Instruction& instruction) const {
    const Buffer& buffer = program_.buffers.at(instruction.buffer);
    if (buffer.content != Content::payload || !program_.format(buffer.phase).scaled) return;
    if (!holds(buffer.scales, instruction.tile)) fail("scales are read before they are there");
  }

  /// Whether a rank has the buffer that a rank some hops away made, or that it made itself: they
  /// name the same shard by different offsets.
  bool holds(BufferId id, const Tile& tile) const {
    const std::uint32_t ranks = program_.ranks;
    const std::uint32_t made_at = program_.buffers.at(id).tile.shard_offset;
    const std::uint32_t hops = (made_at + ranks - tile.shard_offset) % ranks;
    if (hops == 0) return made_[id];
    const auto [forward, backward] = arrivals_[id];
    return forward >= hops || backward >= ranks - hops;
  }

  std::size_t tile_count() const {
    const Partition& partition = program_.partition;
    return std::size_t{program_.ranks} * partition.segments() * partition.minishards() *
           partition.microshards();
  }

  [[noreturn]] void fail(std::string_view why) const {
    const bool at_end = at_ == program_.instructions.size();
    throw std::logic_error(fmt::format("wrong program: {} ({})", why,
                                       at_end ? "at its end" : describe(program_, at_)));
  }

  const Program& program_;
  std::vector<bool> sent_;
  std::vector<bool> made_;
  std::vector<std::array<std::uint32_t, kDirections>> sends_;     // by buffer
  std::vector<std::array<std::uint32_t, kDirections>> arrivals_;  // by buffer
  std::vector<bool> delivered_;
  std::array<std::deque<MessageId>, kDirections> in_flight_;
  InstructionId at_ = 0;
};

}  // namespace

void validate(const Program& program) { Validator(program).run(); }

}  // namespace equarx::collectives
