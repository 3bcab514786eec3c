// Writes the program of a schedule: whole minishards and their parts, without bookkeeping of scales,
// origins and places of sums.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "models/collectives/algorithm.hpp"
#include "models/collectives/program_writer.hpp"

namespace equarx::python {

/// Largest number of segments of a schedule.
inline constexpr std::uint32_t kMostSegments = 8;

/// Division of the tensor by a schedule.
struct ScheduleShape {
  collectives::RankLayout layout = collectives::RankLayout::any;
  bool sharded = false;        ///< one shard per rank; else every rank handles the whole tensor
  std::uint32_t segments = 1;  ///< equal parts, 1 to kMostSegments, cut alike
  /// Microshards if neither the configuration nor planning sets them.
  std::optional<std::uint32_t> microshards{};
  bool uniform = true;  ///< every rank executes every instruction
};

/// Index of an encoded minishard within its writer.
using EncodedId = std::size_t;
/// Index of a sent minishard within its writer.
using SentId = std::size_t;

/// An encoded minishard: at the rank itself, or as received.
struct Piece {
  bool sent = false;
  std::size_t id = 0;  ///< EncodedId or SentId
};

/// Writes a program. Calls are numbered, so that a violation refers to one. Misuse throws
/// input::InputError.
class ScheduleWriter {
 public:
  /// @throws std::invalid_argument if the tensor has too few elements for its parts
  ScheduleWriter(const collectives::ProgramRequest& request, const ScheduleShape& shape);

  const collectives::Program& program() const { return writer_.program(); }
  const collectives::RankGrid& grid() const { return program().grid(); }
  /// Begins the call with this number: the instructions that follow are its.
  void begin_call(std::size_t call) { call_ = call; }
  /// Selects the format of encodings. @throws input::InputError for a phase that the layout lacks
  void use_phase(collectives::Phase phase);
  /// Selects the ranks that execute the instructions that follow.
  /// @throws input::InputError unless first <= last < ranks, or if the schedule is uniform
  void use_ranks(collectives::Rank first, collectives::Rank last);

  bool has_scales() const;  ///< of the current phase
  /// Parts of a chunk. @throws input::InputError for chunks that there are not
  collectives::Cut cut(std::uint32_t segment, std::uint32_t uncut) const;
  /// @throws input::InputError for an offset that the layout does not connect
  collectives::ChannelId add_channel(collectives::Offset offset, const std::string& name);
  /// Begins a sequence whose turns alternate with the turns of the others.
  void begin_strand();
  void take_turn();

  /// Finds the scales of a tile's minishard, microshard by microshard, unless its last sums have found
  /// them.
  void find_scales(const collectives::Tile& tile);
  /// Encodes the scales of a minishard, in a pass of its own unless they have been found.
  EncodedId encode_scales(const collectives::Tile& tile);
  void encode_payload(EncodedId encoded, std::uint32_t micro);
  /// Begins to send a minishard, with its scales. `gathered`: axes along which the sender has
  /// gathered the same minishards of other ranks, which are sent too.
  SentId send_scales(const Piece& piece, collectives::ChannelId channel,
                     collectives::AxisSet gathered, bool begins);
  void send_payload(SentId sent, std::uint32_t micro);
  void wait_scales(SentId sent);
  /// Waits for the scales too, unless that has been done.
  void wait_payload(SentId sent, std::uint32_t micro);

  /// `scales_for`: phase in which the complete sum will be encoded, whose scales this pass finds.
  void accumulate(const Piece& piece, std::uint32_t micro,
                  std::optional<collectives::Phase> scales_for);
  /// The same, rounded to the format of the piece if that has no scales.
  void add(const Piece& piece, std::uint32_t micro, std::optional<collectives::Phase> scales_for);
  /// Replaces the values of the piece's tile.
  void decode(const Piece& piece, std::uint32_t micro);
  /// Writes the piece to the result, in the tensor's type.
  void deliver(const Piece& piece, std::uint32_t micro);
  /// Replaces the values by the sum over all ranks along the axes, in their order.
  void reduce(EncodedId encoded, std::uint32_t micro, collectives::AxisSet axes);
  void store(const collectives::Tile& tile);
  void barrier(const collectives::Tile& tile);

  /// The minishard of a piece, relative to the rank that reads it.
  collectives::Tile tile(const Piece& piece) const;
  std::uint32_t microshards(const collectives::Tile& tile) const;

  /// A violated invariant: the call, if it is one of an instruction, and a clause.
  struct Violation {
    std::optional<std::size_t> call;
    std::string instruction;  ///< described; empty at the end
    std::string why;
  };
  /// Completes and checks the program; std::nullopt if it is valid.
  std::optional<Violation> finish();
  collectives::Program take() && { return std::move(*finished_); }

 private:
  struct Encoded {
    collectives::Tile tile;
    collectives::Phase phase;
    std::optional<collectives::BufferId> scales{};
    std::vector<std::optional<collectives::BufferId>> payload;  ///< by microshard
  };
  struct Sent {
    EncodedId encoded;
    collectives::ChannelId channel;
    collectives::Origin origin;    ///< relative to the sender
    collectives::Origin received;  ///< relative to the receiver
    bool synchronises;             ///< the next message
    std::optional<collectives::MessageId> scales{};
    std::vector<std::optional<collectives::MessageId>> payload{};  ///< by microshard
    std::vector<collectives::RankRange> scales_awaited{};  ///< by ranks that have waited for them
    std::size_t call = 0;                                  ///< that began to send it
    std::vector<bool> awaited{};                           ///< by microshard
  };
  /// Segment, uncut, offset, minishard, microshard.
  using Place =
      std::tuple<std::uint32_t, std::uint32_t, collectives::Offset, std::uint32_t, std::uint32_t>;
  /// Sums that ranks hold.
  struct Held {
    collectives::RankRange ranks;
    collectives::Operand operand;
  };
  struct FoundScales {
    collectives::Phase phase = collectives::Phase::reduce_scatter;
    collectives::RankRange ranks{};
    std::uint32_t microshards = 0;  ///< covered, from the first
  };

  /// Source of bytes that are read.
  struct Source {
    collectives::BufferId buffer;
    collectives::Phase phase;
    collectives::Tile tile;
    collectives::Origin origin;
  };

  void emit(collectives::Instruction instruction);
  void note_calls();
  std::uint32_t microshards_found(const collectives::Tile& tile, collectives::Phase phase) const;
  void forget_scales(const collectives::Tile& tile, bool keeps_own);
  void note_found(const collectives::Tile& tile, collectives::Phase phase);
  Source source(const Piece& piece, std::uint32_t micro) const;
  void sum(collectives::Op op, const Piece& piece, std::uint32_t micro,
           std::optional<collectives::Phase> scales_for, collectives::Operand result);
  collectives::MessageId send_buffer(Sent& sent, collectives::BufferId buffer);
  collectives::Tile canonical(collectives::Tile tile) const;
  collectives::Tile checked(const collectives::Tile& tile) const;
  void require_values(const collectives::Tile& tile) const;
  void note_result(const collectives::Tile& tile, collectives::Offset sender);
  void require_siblings(collectives::BufferId own, collectives::AxisSet axes) const;
  void require_micro(const collectives::Tile& tile, std::uint32_t micro) const;
  Place place(const collectives::Tile& tile) const;
  collectives::Operand operand_of(const collectives::Tile& tile) const;
  void hold(const collectives::Tile& tile, collectives::Operand operand);
  bool overlaps(const Place& one, const Place& other) const;
  std::optional<Violation> unawaited() const;
  void check_scales() const;
  std::optional<std::size_t> call_of(const collectives::Program& merged, std::size_t at) const;

  collectives::ProgramWriter writer_;
  ScheduleShape shape_;
  collectives::Phase phase_ = collectives::Phase::reduce_scatter;
  collectives::RankRange ranks_{};
  double turn_ = 0.0;
  std::size_t call_ = 0;
  std::vector<std::size_t> calls_;                 ///< by written instruction
  std::vector<collectives::Instruction> written_;  ///< before strands are merged
  std::vector<Encoded> encoded_;
  std::vector<Sent> sent_;
  std::map<Place, std::vector<Held>> held_;         ///< by microshard
  std::map<Place, std::vector<Held>> held_chunks_;  ///< the same by chunk
  std::map<Place, FoundScales> found_scales_;       ///< by minishard
  /// Ranks that have written a microshard of the result; in an AllToAll, by sender.
  std::map<std::pair<Place, collectives::Offset>, std::vector<collectives::RankRange>> results_;
  std::optional<collectives::Program> finished_;
};

}  // namespace equarx::python
