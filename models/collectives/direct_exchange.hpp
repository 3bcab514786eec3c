// Direct exchange along one axis of a rank grid: every rank sends to all ranks that differ along
// this axis only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "models/collectives/minishard_writer.hpp"
#include "models/collectives/program_writer.hpp"

namespace equarx::collectives {

/// Shards in flight per rank in a direct exchange: enough to keep its links busy while one message
/// is summed, and few enough for the receive buffers.
inline constexpr std::uint32_t kShardsUnderWay = 16;

/// Ranks, chunks and phases of an exchange. Defaults: a whole collective.
struct ExchangeLevel {
  std::size_t axis = 0;     ///< the last axis to cut the chunks
  std::uint32_t uncut = 0;  ///< number of trailing axes that do not cut them (Tile::uncut)
  Phase reduce_scatter = Phase::reduce_scatter;
  Phase all_gather = Phase::all_gather;
  Operand source = Operand::input;  ///< location of a rank's own terms
  /// True if the own term goes through the codec too and terms are added in the order of ranks, as
  /// in qgZ of ZeRO++. Else the own term is added unencoded, and the others in the order of rounds.
  bool codes_own = false;
  /// True if a rank exchanges all of its data with one partner before the next, as in pairwise
  /// exchanges of MPI.
  bool in_turn = false;
  /// True if gather() directly follows scatter(), so that the last sum can also compute its scales.
  bool gathers_sums = false;
};

/// Writes both halves of an exchange, for all segments of the program together, in rounds: in round
/// k every rank sends to the rank k positions further along the axis, or along each of its factors
/// (RankGrid), as in NCCL's point-to-point schedule (init.cc, p2pSchedule). Sums are FP32.
class DirectExchange {
 public:
  /// Adds one channel per round and stream of minishards.
  DirectExchange(ProgramWriter& writer, const ExchangeLevel& level);

  /// Destination of received data.
  enum class Arrivals : std::uint8_t { result, values };

  /// Sends every rank's chunks to their owners, which sum them.
  void scatter();
  /// Sends every rank's chunks to their owners, which keep them all: an AllToAll. The own chunk
  /// stays in the format of the AllGather phase.
  void exchange_shards();
  /// Stores the own chunk's sums into the result.
  void store_sums();
  /// Sends every rank's own chunk (its sums or its input, per `operand`) to all others, into the
  /// result or into the values of a larger chunk for a further stage.
  void gather(Operand operand, Arrivals arrivals = Arrivals::result);

 private:
  /// A minishard in flight, as seen by both ends.
  struct Transfer {
    EncodedMinishard minishard;
    SentMinishard sent;
    std::uint32_t round = 0;  ///< distance to the receiver along the axis
    std::size_t number = 0;   ///< index of the minishard in own_
  };

  template <typename Send, typename Receive>
  void run(Send send, Receive receive);
  std::size_t transfers_in_flight() const;
  std::string channel_name(std::uint32_t round, std::uint32_t stream) const;
  ChannelId channel(const Tile& tile, std::uint32_t round) const;
  Transfer scatter_one(std::size_t number, std::uint32_t round);
  Transfer send_to(std::uint32_t round, EncodedMinishard minishard, std::size_t number);
  void sum(const Transfer& transfer);
  void await_and_reduce(const Transfer& transfer);
  void receive(const Transfer& transfer, Arrivals arrivals);
  void take(const Tile& tile, BufferId payload, const Origin& origin, Arrivals arrivals);
  bool sums_find_scales() const;
  Offset offset(std::uint32_t round) const;
  Origin sender(std::uint32_t round) const {
    return {.offset = writer_.program().grid().reverse(offset(round))};
  }

  ProgramWriter& writer_;
  MinishardWriter minishards_;
  ExchangeLevel level_;
  std::uint32_t length_;                     ///< number of ranks along the axis
  std::vector<Tile> own_;                    ///< minishards of the own chunks of all segments
  std::vector<EncodedMinishard> own_terms_;  ///< encodings of own_, if they are encoded
  ChannelId first_channel_ = 0;              ///< of stream 0 and round 1; the others follow
};

}  // namespace equarx::collectives
