#include "models/collectives/validate.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <limits>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_set>
#include <vector>

#include <fmt/format.h>

#include "models/collectives/traffic.hpp"

namespace equarx::collectives {
namespace {

std::string message_of(const Program& program, std::size_t at, std::string_view why) {
  const bool at_end = at == program.instructions.size();
  return fmt::format("invalid program: {} ({})", why,
                     at_end ? "at the end" : describe(program, static_cast<InstructionId>(at)));
}

[[noreturn]] void fail(const Program& program, std::size_t at, std::string_view why) {
  throw InvalidProgram(program, at, why);
}

/// True if an instruction refers to a buffer by the tile that it holds: the writer's and the
/// reader's shard offsets differ by the offset between them.
bool holds_tile(const Program& program, const Instruction& instruction) {
  const RankGrid& grid = program.grid();
  const Tile& made = program.buffers.at(instruction.buffer).tile;
  const Offset offset = grid.move(instruction.origin.offset, made.shard_offset);
  const std::vector<std::size_t>& axes = program.partition.segment(made.segment).axes;
  if (instruction.tile.shard_offset != offset)
    for (std::size_t i = 0; i + made.uncut < axes.size(); ++i)
      if (grid.coordinate(instruction.tile.shard_offset, axes[i]) !=
          grid.coordinate(offset, axes[i]))
        return false;
  Tile tile = instruction.tile;
  tile.shard_offset = made.shard_offset;
  return tile == made;
}

/// Checks the instruction stream common to all ranks, from the view of any one of them.
class UniformValidator {
 public:
  explicit UniformValidator(const Program& program)
      : program_(program),
        sent_(program.messages.size()),
        written_(program.buffers.size()),
        last_arrival_(program.buffers.size(), kNone),
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
      case Op::add_residual:
      case Op::add_residual_after:
      case Op::find_scales:
      case Op::scale:
      case Op::barrier: return;
      case Op::merge_amax:
        if (!holds(instruction.buffer, instruction.origin))
          fail("a buffer is read before it is available");
        return;
      case Op::encode_amax:
      case Op::encode_scales:
      case Op::quantize:
      case Op::lend:
        if (written_.at(instruction.buffer)) fail("a buffer is written twice");
        written_[instruction.buffer] = true;
        return require_scales(instruction);
      case Op::accumulate:
      case Op::add:
      case Op::decode:
      case Op::reduce: return require_buffer(instruction);
      case Op::switch_reduce:
        return has_shards(instruction.tile) ? require_siblings(instruction)
                                            : require_buffer(instruction);
      case Op::reduce_shards: return require_siblings(instruction);
      case Op::dequantize:
      case Op::deliver: require_buffer(instruction); return deliver(instruction);
      case Op::store: return deliver(instruction);
    }
  }

  void check_send(MessageId id) {
    const Message& message = program_.messages.at(id);
    if (sent_[id]) fail("a message is sent twice");
    if (!holds(message.buffer, message.origin)) fail("a buffer is sent before it is available");
    sent_[id] = true;
    in_flight_.at(message.channel).push_back(id);
  }

  void check_wait(MessageId id) {
    const Message& message = program_.messages.at(id);
    auto& queue = in_flight_.at(message.channel);
    if (queue.empty() || queue.front() != id) fail("waits are not in the order of sends");
    queue.pop_front();
    Origin arrived = program_.received(message);
    if (program_.channels[message.channel].ports != Ports::both)
      arrived = {.gathered = program_.grid().all_axes()};
    arrivals_.push_back({arrived, last_arrival_[message.buffer]});
    last_arrival_[message.buffer] = arrivals_.size() - 1;
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

  void require_buffer(const Instruction& instruction) const {
    if (!holds(instruction.buffer, instruction.origin))
      fail("a buffer is read before it is available");
    require_scales(instruction);
    if (!holds_tile(program_, instruction)) fail("a buffer is read as a tile other than its own");
  }

  /// Each sibling must come from the rank that it was written for; the own one from this rank
  /// itself.
  void require_siblings(const Instruction& instruction) const {
    const AxisSet axes = instruction.origin.gathered;
    const std::vector<BufferId> buffers = siblings(program_, instruction.buffer, axes);
    const std::vector<Offset> offsets = program_.grid().offsets(axes);
    for (std::size_t i = 0; i < buffers.size(); ++i) {
      Instruction term = instruction;
      term.buffer = buffers[i];
      term.origin = {.offset = program_.grid().reverse(offsets[i])};
      require_buffer(term);
    }
  }

  void require_scales(const Instruction& instruction) const {
    const Buffer& buffer = program_.buffers.at(instruction.buffer);
    if (buffer.content != Content::payload ||
        !numerics::sends_scales(program_.format(buffer.phase)))
      return;
    if (!holds(buffer.scales, instruction.origin))
      fail("scales are read before they are available");
  }

  /// True if a rank holds the buffers of an origin: written by itself, or received together or one
  /// by one.
  bool holds(BufferId id, const Origin& origin) const {
    const std::size_t last = last_arrival_.at(id);
    if (origin == Origin{}) return written_[id];
    const Origin of_all{.gathered = program_.grid().all_axes()};  // through a switch
    if (last != kNone && arrivals_[last].origin == of_all) return true;
    // Forwarded data has mostly arrived recently.
    for (std::size_t at = last; at != kNone; at = arrivals_[at].before)
      if (arrivals_[at].origin == origin) return true;
    if (origin.offset != 0 || !written_[id]) return false;
    std::uint64_t writers = 1;
    for (std::size_t at = last; at != kNone; at = arrivals_[at].before)
      if (within(arrivals_[at].origin.offset, origin.gathered))
        writers += program_.grid().span(arrivals_[at].origin.gathered);
    return writers == program_.grid().span(origin.gathered);
  }

  bool has_shards(const Tile& tile) const {
    return !program_.partition.segment(tile.segment).axes.empty();
  }

  /// True if an offset is along these axes only.
  bool within(Offset offset, AxisSet axes) const {
    const RankGrid& grid = program_.grid();
    for (std::size_t axis = 0; axis < grid.axes(); ++axis)
      if ((axes >> axis & 1U) == 0 && grid.coordinate(offset, axis) != 0) return false;
    return true;
  }

  [[noreturn]] void fail(std::string_view why) const { collectives::fail(program_, at_, why); }

  static constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();

  struct Arrival {
    Origin origin;
    std::size_t before;  ///< of the same buffer, in `arrivals_`; or kNone
  };

  struct Delivered {
    std::vector<std::tuple<Offset, std::uint32_t, std::uint32_t, Offset>> tiles;
    std::uint64_t elements = 0;
  };

  const Program& program_;
  std::vector<bool> sent_;
  std::vector<bool> written_;
  std::vector<Arrival> arrivals_;                 // in order
  std::vector<std::size_t> last_arrival_;         // by buffer, in `arrivals_`
  std::vector<std::deque<MessageId>> in_flight_;  // by channel
  std::vector<Delivered> delivered_;              // by segment
  std::size_t at_ = 0;
};

/// Runs a program whose ranks differ, without timing: rank after rank, each as far as possible.
class RankByRankValidator {
 public:
  explicit RankByRankValidator(const Program& program)
      : program_(program), ranks_(program.ranks()) {
    for (RankState& rank : ranks_) {
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
    for (const RankState& rank : ranks_)
      if (rank.at < program_.instructions.size()) fail(rank.at, "a wait never completes");
    for (const RankState& rank : ranks_) {
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
    std::unordered_set<std::uint64_t> holds;                                          // key_of()
    std::vector<std::deque<MessageId>> inbox;                                         // by channel
    std::set<std::tuple<std::uint32_t, Offset, std::uint32_t, std::uint32_t>> tiles;  // delivered
    std::uint64_t elements = 0;                                                       // of them
  };

  /// Executes one instruction; false if the rank has finished or has to wait.
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
          fail(rank.at, "waits are not in the order of sends");
        queue.pop_front();
        const Message& message = program_.messages[instruction.message];
        rank.holds.insert(key_of(message.buffer, program_.received(message)));
        return true;
      }
      case Op::send: {
        const Message& message = program_.messages[instruction.message];
        if (!holds(id, message.buffer, message.origin))
          fail(rank.at, "a buffer is sent before it is available");
        const Rank to = program_.grid().move(id, program_.channels[message.channel].offset);
        ranks_[to].inbox[message.channel].push_back(instruction.message);
        return true;
      }
      case Op::encode_amax:
      case Op::quantize:
      case Op::lend:
      case Op::encode_scales: rank.holds.insert(key_of(instruction.buffer, {})); return true;
      case Op::merge_amax:
      case Op::accumulate:
      case Op::add:
      case Op::decode:
        if (!holds(id, instruction.buffer, instruction.origin))
          fail(rank.at, "a buffer is read before it is available");
        return true;
      case Op::reduce:
        for (const Offset offset : program_.grid().offsets(instruction.origin.gathered))
          if (!holds(id, instruction.buffer, {.offset = offset}))
            fail(rank.at, "a buffer is read before it is available");
        return true;
      case Op::deliver:
      case Op::dequantize:
        if (!holds(id, instruction.buffer, instruction.origin))
          fail(rank.at, "a buffer is read before it is available");
        if (!holds_tile(program_, instruction))
          fail(rank.at, "a buffer is read as a tile other than its own");
        deliver(rank, instruction.tile);
        return true;
      case Op::store: deliver(rank, instruction.tile); return true;
      default: return true;
    }
  }

  /// A buffer and the rank that wrote it, by its offset; the root's apart.
  static std::uint64_t key_of(BufferId buffer, const Origin& origin) {
    constexpr int kBits = 32;
    constexpr std::uint64_t kRoot = 0xFFFFFFFF;
    return std::uint64_t{buffer} << kBits | (origin.root ? kRoot : origin.offset);
  }

  bool holds(Rank id, BufferId buffer, const Origin& origin) const {
    const auto& held = ranks_[id].holds;
    if (held.contains(key_of(buffer, origin))) return true;
    return origin.root && id == 0 && held.contains(key_of(buffer, {}));
  }

  void deliver(RankState& rank, const Tile& tile) const {
    if (!rank.tiles.emplace(tile.segment, tile.shard_offset, tile.minishard, tile.microshard)
             .second)
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

InvalidProgram::InvalidProgram(const Program& program, std::size_t at, std::string_view why)
    : std::logic_error(message_of(program, at, why)), at_(at), why_(why) {}

void validate(const Program& program) {
  if (is_uniform(program))
    UniformValidator(program).run();
  else
    RankByRankValidator(program).run();
  validate_casts(program);
}

}  // namespace equarx::collectives
