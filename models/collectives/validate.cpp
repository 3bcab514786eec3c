#include "models/collectives/validate.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include <fmt/format.h>

#include "models/collectives/traffic.hpp"

namespace equarx::collectives {
namespace {

[[noreturn]] void fail(const Program& program, std::size_t at, std::string_view why) {
  const bool at_end = at == program.instructions.size();
  throw std::logic_error(
      fmt::format("wrong program: {} ({})", why,
                  at_end ? "at its end" : describe(program, static_cast<InstructionId>(at))));
}

/// Whether the tile that an instruction names is the one that its buffer was made of: the maker's and
/// the reader's names of a shard differ by the way between them.
bool holds_tile(const Program& program, const Instruction& instruction) {
  const RankGrid& grid = program.grid();
  const Tile& made = program.buffers.at(instruction.buffer).tile;
  const Offset offset = grid.move(instruction.origin.offset, made.shard_offset);
  const std::vector<std::size_t>& axes = program.partition.segment(made.segment).axes;
  for (std::size_t i = 0; i + made.uncut < axes.size(); ++i)
    if (grid.coordinate(instruction.tile.shard_offset, axes[i]) != grid.coordinate(offset, axes[i]))
      return false;
  Tile tile = instruction.tile;
  tile.shard_offset = made.shard_offset;
  return tile == made;
}

/// Goes through the one list that all ranks share, as any one of them sees it.
class UniformValidator {
 public:
  explicit UniformValidator(const Program& program)
      : program_(program),
        sent_(program.messages.size()),
        made_(program.buffers.size()),
        arrivals_(program.buffers.size()),
        in_flight_(program.channels.size()),
        delivered_(program.partition.segments()) {}

  void run() {
    for (at_ = 0; at_ < program_.instructions.size(); ++at_) check(program_.instructions[at_]);
    for (const auto& queue : in_flight_)
      if (!queue.empty()) fail(fmt::format("message {} is never waited for", queue.front()));
    for (std::size_t message = 0; message < sent_.size(); ++message)
      if (!sent_[message]) fail(fmt::format("message {} is never sent", message));
    check_deliveries();
  }

 private:
  void check(const Instruction& instruction) {
    switch (instruction.op) {
      case Op::send: return check_send(instruction.message);
      case Op::wait: return check_wait(instruction.message);
      case Op::find_amax:
      case Op::cast:
      case Op::cast_back:
      case Op::find_scales:
      case Op::barrier: return;
      case Op::merge_amax:
        if (!holds(instruction.buffer, instruction.origin))
          fail("a buffer is read before it is there");
        return;
      case Op::encode_amax:
      case Op::encode_scales:
      case Op::quantize:
      case Op::lend:
        if (made_.at(instruction.buffer)) fail("a buffer is made twice");
        made_[instruction.buffer] = true;
        return need_scales(instruction);
      case Op::accumulate:
      case Op::add:
      case Op::decode:
      case Op::reduce: return need_buffer(instruction);
      case Op::reduce_shards: return need_siblings(instruction);
      case Op::dequantize:
      case Op::deliver: need_buffer(instruction); return deliver(instruction);
      case Op::store: return deliver(instruction);
    }
  }

  void check_send(MessageId id) {
    const Message& message = program_.messages.at(id);
    if (sent_[id]) fail("a message is sent twice");
    if (!holds(message.buffer, message.origin)) fail("a buffer is sent before it is there");
    sent_[id] = true;
    in_flight_.at(message.channel).push_back(id);
  }

  void check_wait(MessageId id) {
    const Message& message = program_.messages.at(id);
    auto& queue = in_flight_.at(message.channel);
    if (queue.empty() || queue.front() != id) fail("a wait is out of the order of sends");
    queue.pop_front();
    arrivals_[message.buffer].push_back(program_.received(message));
  }

  void deliver(const Instruction& instruction) {
    const Tile& tile = instruction.tile;
    Delivered& segment = delivered_.at(tile.segment);
    segment.tiles.emplace_back(tile.shard_offset, tile.minishard, tile.microshard,
                               instruction.origin.offset);
    segment.elements += program_.partition.microshard(tile).size() *
                        program_.grid().span(instruction.origin.gathered);
  }

  void check_deliveries() {
    for (std::uint32_t segment = 0; segment < delivered_.size(); ++segment) {
      auto& [tiles, elements] = delivered_[segment];
      std::ranges::sort(tiles);
      if (std::ranges::adjacent_find(tiles) != tiles.end()) fail("a tile is delivered twice");
      const bool shard = program_.collective == Collective::reduce_scatter;
      const std::uint64_t expected = shard ? program_.partition.chunk_elements(segment)
                                           : program_.partition.segment_elements(segment);
      if (elements != expected)
        fail(fmt::format("{} of {} elements of segment {} reach the result", elements, expected,
                         segment));
    }
  }

  void need_buffer(const Instruction& instruction) const {
    if (!holds(instruction.buffer, instruction.origin)) fail("a buffer is read before it is there");
    need_scales(instruction);
    if (!holds_tile(program_, instruction)) fail("a buffer is read as another tile than its own");
  }

  /// Of each sibling what the rank made that it is for: of the own one it is this rank itself.
  void need_siblings(const Instruction& instruction) const {
    const AxisSet axes = instruction.origin.gathered;
    const std::vector<BufferId> buffers = siblings(program_, instruction.buffer, axes);
    const std::vector<Offset> offsets = program_.grid().offsets(axes);
    for (std::size_t i = 0; i < buffers.size(); ++i) {
      Instruction term = instruction;
      term.buffer = buffers[i];
      term.origin = {.offset = program_.grid().reverse(offsets[i])};
      need_buffer(term);
    }
  }

  void need_scales(const Instruction& instruction) const {
    const Buffer& buffer = program_.buffers.at(instruction.buffer);
    if (buffer.content != Content::payload || !program_.format(buffer.phase).scaled) return;
    if (!holds(buffer.scales, instruction.origin)) fail("scales are read before they are there");
  }

  /// Whether a rank has the buffers of an origin: it made it, or they came together, or one by one.
  bool holds(BufferId id, const Origin& origin) const {
    const std::vector<Origin>& arrivals = arrivals_.at(id);
    if (origin == Origin{}) return made_[id];
    // What is passed on has mostly just come.
    if (std::find(arrivals.rbegin(), arrivals.rend(), origin) != arrivals.rend()) return true;
    if (origin.offset != 0 || !made_[id]) return false;
    std::uint64_t makers = 1;
    for (const Origin& arrival : arrivals)
      if (within(arrival.offset, origin.gathered)) makers += program_.grid().span(arrival.gathered);
    return makers == program_.grid().span(origin.gathered);
  }

  /// Whether an offset leads along these axes only.
  bool within(Offset offset, AxisSet axes) const {
    const RankGrid& grid = program_.grid();
    for (std::size_t axis = 0; axis < grid.axes(); ++axis)
      if ((axes >> axis & 1U) == 0 && grid.coordinate(offset, axis) != 0) return false;
    return true;
  }

  [[noreturn]] void fail(std::string_view why) const { collectives::fail(program_, at_, why); }

  struct Delivered {
    std::vector<std::tuple<Offset, std::uint32_t, std::uint32_t, Offset>> tiles;
    std::uint64_t elements = 0;
  };

  const Program& program_;
  std::vector<bool> sent_;
  std::vector<bool> made_;
  std::vector<std::vector<Origin>> arrivals_;     // by buffer
  std::vector<std::deque<MessageId>> in_flight_;  // by channel
  std::vector<Delivered> delivered_;              // by segment
  std::size_t at_ = 0;
};

/// Runs a program whose ranks differ, without a clock: rank after rank, as far as each gets.
class RankByRankValidator {
 public:
  explicit RankByRankValidator(const Program& program)
      : program_(program), ranks_(program.ranks()) {
    for (RankState& rank : ranks_) {
      rank.holds.resize(program.buffers.size());
      rank.inbox.resize(program.channels.size());
    }
  }

  void run() {
    bool progress = true;
    while (progress) {
      progress = false;
      for (Rank rank = 0; rank < ranks_.size(); ++rank)
        while (step(rank)) progress = true;
    }
    for (const RankState& rank : ranks_) {
      if (rank.at < program_.instructions.size()) fail(rank.at, "a wait is never answered");
      for (const auto& queue : rank.inbox)
        if (!queue.empty())
          fail(rank.at, fmt::format("message {} is never waited for", queue.front()));
      if (rank.elements != program_.partition.segments() * segment_elements())
        fail(rank.at, "not every element reaches the result");
    }
  }

 private:
  struct RankState {
    std::size_t at = 0;
    std::vector<bool> holds;                                                  // by buffer
    std::vector<std::deque<MessageId>> inbox;                                 // by channel
    std::set<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>> tiles;  // delivered
    std::uint64_t elements = 0;                                               // of them
  };

  /// Executes one instruction; false if the rank is done or has to wait.
  bool step(Rank id) {
    RankState& rank = ranks_[id];
    if (rank.at == program_.instructions.size()) return false;
    const Instruction& instruction = program_.instructions[rank.at];
    if (instruction.ranks.contains(id) && !execute(id, instruction)) return false;
    ++rank.at;
    return true;
  }

  bool execute(Rank id, const Instruction& instruction) {
    RankState& rank = ranks_[id];
    switch (instruction.op) {
      case Op::wait: {
        auto& queue = rank.inbox[program_.messages[instruction.message].channel];
        if (queue.empty()) return false;
        if (queue.front() != instruction.message)
          fail(rank.at, "a wait is out of the order of sends");
        queue.pop_front();
        rank.holds[program_.messages[instruction.message].buffer] = true;
        return true;
      }
      case Op::send: {
        const Message& message = program_.messages[instruction.message];
        if (!rank.holds[message.buffer]) fail(rank.at, "a buffer is sent before it is there");
        const Rank to = program_.grid().move(id, program_.channels[message.channel].offset);
        ranks_[to].inbox[message.channel].push_back(instruction.message);
        return true;
      }
      case Op::encode_amax:
      case Op::quantize:
      case Op::lend:
      case Op::encode_scales: rank.holds[instruction.buffer] = true; return true;
      case Op::merge_amax:
      case Op::accumulate:
      case Op::add:
      case Op::decode:
        if (!rank.holds[instruction.buffer]) fail(rank.at, "a buffer is read before it is there");
        return true;
      case Op::deliver:
      case Op::dequantize:
        if (!rank.holds[instruction.buffer]) fail(rank.at, "a buffer is read before it is there");
        if (!holds_tile(program_, instruction))
          fail(rank.at, "a buffer is read as another tile than its own");
        deliver(rank, instruction.tile);
        return true;
      default: return true;
    }
  }

  void deliver(RankState& rank, const Tile& tile) const {
    if (!rank.tiles.emplace(tile.segment, tile.minishard, tile.microshard).second)
      fail(rank.at, "a tile is delivered twice");
    rank.elements += program_.partition.microshard(tile).size();
  }

  std::uint64_t segment_elements() const { return program_.partition.segment_elements(0); }

  [[noreturn]] void fail(std::size_t at, std::string_view why) const {
    collectives::fail(program_, at, why);
  }

  const Program& program_;
  std::vector<RankState> ranks_;
};

}  // namespace

void validate(const Program& program) {
  if (is_uniform(program))
    UniformValidator(program).run();
  else
    RankByRankValidator(program).run();
  validate_casts(program);
}

}  // namespace equarx::collectives
