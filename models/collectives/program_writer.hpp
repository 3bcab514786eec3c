// Writes the instruction stream of a program from several concurrent strands.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "models/collectives/program.hpp"

namespace equarx::collectives {

/// A chip has a single instruction stream but works on several independent segments concurrently.
/// Each segment is written as a strand, whose instructions have approximate due times; finish()
/// merges the strands by due time. The unit of time is arbitrary but must be the same in all
/// strands.
class ProgramWriter {
 public:
  /// `program`: complete except for channels, buffers, messages and instructions.
  explicit ProgramWriter(Program program) : program_(std::move(program)) {}

  const Program& program() const { return program_; }

  /// Begins a new strand. Within a strand, due times must not decrease. The first strand of a part
  /// precedes its instructions.
  void begin_strand() { strands_.push_back(dues_.size()); }
  /// Makes room for `strands` strands of the size of all so far together.
  void reserve_strands(std::size_t strands);
  /// Begins a part that follows everything written so far: the strands up to here are merged among
  /// themselves.
  void begin_part();
  void due(double time) { due_ = time; }
  /// Selects the stream of the instructions that follow (Instruction::stream).
  void use_stream(std::uint32_t stream) { stream_ = stream; }
  /// Deals the minishards to `streams` streams instead, in turn: those of a kernel whose workgroups
  /// process different minishards at once.
  void use_minishard_streams(std::uint32_t streams) { minishard_streams_ = streams; }
  std::uint32_t minishard_streams() const { return minishard_streams_; }
  /// Stream of a tile among them.
  std::uint32_t stream_of(const Tile& tile) const { return tile.minishard % minishard_streams_; }

  ChannelId add_channel(Offset offset, std::string name, Ports ports = Ports::both);

  void emit(const Instruction& instruction);
  BufferId make_buffer(Content content, Phase phase, const Tile& tile, BufferId scales = 0);
  /// A message without its `send`, if only some ranks send it.
  MessageId make_message(const Message& message);
  /// A message with its `send`.
  MessageId send(Phase phase, const Message& message, RankRange ranks = {});
  void wait(MessageId message, RankRange ranks = {});

  /// Computes the scales of a tile's minishard, in a pass of its own over all its microshards.
  void find_scales(Phase phase, const Tile& tile, Operand operand, RankRange ranks = {});
  BufferId encode_scales(Phase phase, const Tile& tile, RankRange ranks = {});
  /// Encodes a tile, or lends it if the values already are in the wire format.
  BufferId encode_payload(Phase phase, const Tile& tile, Operand operand, BufferId scales,
                          RankRange ranks = {});
  /// The same into an existing buffer, which several ranks write one after the other. No scales.
  void encode_into(BufferId payload, Phase phase, const Tile& tile, Operand operand,
                   RankRange ranks);
  /// Writes a received payload, or the rank's own, to the result.
  void deliver(const Tile& tile, BufferId payload, Origin origin = {}, RankRange ranks = {});
  /// Calls `visit` with the index of each microshard.
  template <typename Visit>
  void for_each_microshard(const Tile& tile, Visit visit) const {
    const std::uint32_t microshards = program_.partition.cut(tile.segment, tile.uncut).microshards;
    for (std::uint32_t micro = 0; micro < microshards; ++micro) visit(micro);
  }

  /// Merges the strands; barriers of several strands that are due at the same time become one.
  /// @throws std::logic_error if the program is invalid (validate())
  Program finish() &&;

 private:
  bool lies_in_wire_format(Phase phase, Operand operand) const;
  /// Orders the last part by due time; of instructions due at once, the earlier strand comes first.
  void merge_strands();

  Program program_;  ///< the instructions of the last part are ordered by strand until finish()
  std::vector<double> dues_;          ///< by instruction of the last part
  std::vector<std::size_t> strands_;  ///< first instruction of each strand, in the last part
  std::size_t part_begin_ = 0;
  double due_ = 0.0;
  std::uint32_t stream_ = 0;
  std::uint32_t minishard_streams_ = 1;
};

/// Returns another microshard of the same minishard.
inline Tile at(Tile tile, std::uint32_t microshard) {
  tile.microshard = microshard;
  return tile;
}

}  // namespace equarx::collectives
