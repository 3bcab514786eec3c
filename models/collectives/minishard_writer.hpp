// Writes whole minishards, for programs that encode one and send it to several ranks.
#pragma once

#include <optional>
#include <vector>

#include "models/collectives/program_writer.hpp"

namespace equarx::collectives {

/// The buffers of an encoded minishard.
struct EncodedMinishard {
  Tile tile;
  std::optional<BufferId> scales;
  std::vector<BufferId> payload;  ///< by microshard
};

/// The messages that carry an encoded minishard.
struct SentMinishard {
  std::optional<MessageId> scales;
  std::vector<MessageId> payload;
};

/// Writes the instructions of a minishard: encode, send, wait, deliver.
class MinishardWriter {
 public:
  explicit MinishardWriter(ProgramWriter& writer, RankRange ranks = {})
      : writer_(writer), ranks_(ranks) {}

  /// Encodes a minishard, computing its scales in a separate pass unless `scales_found`.
  EncodedMinishard encode(Phase phase, const Tile& tile, Operand operand,
                          bool scales_found = false) const;
  /// Sends a minishard. `begins`: it is the first of a round, before which quantizing neighbours
  /// synchronise. `first_rows`: as of Message.
  SentMinishard send(const EncodedMinishard& minishard, ChannelId channel, Origin origin,
                     bool begins, bool first_rows = false) const;
  /// Waits for all of it.
  void wait(const SentMinishard& sent) const;
  void wait_for_scales(const SentMinishard& sent) const;
  void wait_for_payload(const SentMinishard& sent, std::uint32_t micro) const;
  /// Writes it to the result; `tile` is relative to the receiving rank.
  void deliver(const EncodedMinishard& minishard, const Tile& tile, Origin origin) const;

 private:
  ProgramWriter& writer_;
  RankRange ranks_;
};

}  // namespace equarx::collectives
