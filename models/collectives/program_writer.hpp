// Writes the instruction list of a program, from several strands that run side by side.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "models/collectives/program.hpp"

namespace equarx::collectives {

/// A chip has one list of instructions, and works on several independent segments at once. Each is
/// written as a strand, whose instructions say when they are about to be due; finish() merges the
/// strands by that time. Time has no unit here: it only has to pass alike in all strands.
class ProgramWriter {
 public:
  /// `program` with everything but channels, buffers, messages and instructions.
  explicit ProgramWriter(Program program) : program_(std::move(program)) {}

  const Program& program() const { return program_; }

  /// What follows belongs to a new strand. Within one, due times must not fall.
  void begin_strand() { ++strand_; }
  /// What follows comes after all that is written: the strands until here are merged among themselves.
  void begin_part();
  void due(double time) { due_ = time; }

  ChannelId add_channel(Offset offset, std::string name);

  void emit(const Instruction& instruction);
  BufferId make_buffer(Content content, Phase phase, const Tile& tile, BufferId scales = 0);
  /// A message without its `send`, for those that only some ranks send.
  MessageId make_message(const Message& message);
  /// A message with its `send`.
  MessageId send(Phase phase, const Message& message, RankRange ranks = {});
  void wait(MessageId message, RankRange ranks = {});

  /// Finds the scales of a tile's minishard, in a pass of its own over all its microshards.
  void find_scales(Phase phase, const Tile& tile, Operand operand, RankRange ranks = {});
  BufferId encode_scales(Phase phase, const Tile& tile, RankRange ranks = {});
  /// Encodes a tile, or lends it if the values lie in the wire format.
  BufferId encode_payload(Phase phase, const Tile& tile, Operand operand, BufferId scales,
                          RankRange ranks = {});
  /// The same into a buffer that is there, of which several ranks make their own one after the other. No scales.
  void encode_into(BufferId payload, Phase phase, const Tile& tile, Operand operand,
                   RankRange ranks);
  /// A payload that has arrived, or the rank's own, into the result.
  void deliver(const Tile& tile, BufferId payload, Origin origin = {}, RankRange ranks = {});
  /// Calls `visit` with the number of each microshard.
  template <typename Visit>
  void for_each_microshard(const Tile& tile, Visit visit) const {
    const std::uint32_t microshards = program_.partition.cut(tile.segment, tile.uncut).microshards;
    for (std::uint32_t micro = 0; micro < microshards; ++micro) visit(micro);
  }

  /// Merges the strands; barriers of several that are due at once become one.
  /// @throws std::logic_error if the program is wrong (validate()).
  Program finish() &&;

 private:
  /// When an instruction is about to be due, and whose it is.
  struct Due {
    double time;
    std::uint32_t strand;
  };

  bool lies_in_wire_format(Phase phase, Operand operand) const;
  void merge_strands();

  Program program_;        ///< the instructions of the last part strand by strand, until finish()
  std::vector<Due> dues_;  ///< by instruction of the last part
  std::size_t part_begin_ = 0;
  std::uint32_t strand_ = 0;
  double due_ = 0.0;
};

/// Another microshard of the same minishard.
inline Tile at(Tile tile, std::uint32_t microshard) {
  tile.microshard = microshard;
  return tile;
}

}  // namespace equarx::collectives
