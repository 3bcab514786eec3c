// Direct exchange along one axis of a rank grid: every rank sends to every other that differs along it only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "models/collectives/minishard_writer.hpp"
#include "models/collectives/program_writer.hpp"

namespace equarx::collectives {

/// Shards that a rank has under way at once in a direct exchange: enough to keep its links busy while
/// one message is summed, and few enough for their receive buffers.
inline constexpr std::uint32_t kShardsUnderWay = 16;

/// Among whom an exchange is, of which chunks, and in which phases: those of a whole collective by default.
struct ExchangeLevel {
  std::size_t axis = 0;     ///< that cuts the chunks last
  std::uint32_t uncut = 0;  ///< axes, from the end, that do not cut them (Tile::uncut)
  Phase reduce_scatter = Phase::reduce_scatter;
  Phase all_gather = Phase::all_gather;
  Operand brought = Operand::input;  ///< where a rank's own terms lie
  /// Whether the own term goes through the codec, too, and terms are added by rank: as in ZeRO++'s qgZ. Else it is
  /// added as it is, and the others to it in the order of rounds.
  bool codes_own = false;
  /// Whether gather() follows scatter() at once, so that the last sum may find its scales.
  bool gathers_sums = false;
};

/// Writes both halves of an exchange, for all segments of the program together, in rounds: in round k every rank sends
/// to the rank k places on along the axis. Sums are formed in FP32.
class DirectExchange {
 public:
  /// Adds a channel for each round.
  DirectExchange(ProgramWriter& writer, const ExchangeLevel& level);

  /// What becomes of what arrives.
  enum class Arrivals : std::uint8_t { result, values };

  /// Every rank's chunks to their owners, who add them up.
  void scatter();
  /// Every rank's chunks to their owners, who keep them all: an AllToAll.
  void deal();
  /// The own chunk's sums into the result.
  void store_sums();
  /// Every rank's own chunk to all others: its sums, or what it brought, from `operand`; into the result, or into the
  /// values of a larger chunk that a further stage sends.
  void gather(Operand operand, Arrivals arrivals = Arrivals::result);

 private:
  /// A minishard on its way, as both ends know it.
  struct Transfer {
    EncodedMinishard minishard;
    SentMinishard sent;
    std::uint32_t round = 0;  ///< it goes to the rank so many places on
    std::size_t number = 0;   ///< of the minishard, in own_
  };

  template <typename Send, typename Receive>
  void run(Send send, Receive receive);
  std::size_t transfers_under_way() const;
  Transfer scatter_one(std::size_t number, std::uint32_t round);
  Transfer send_to(std::uint32_t round, EncodedMinishard minishard, std::size_t number);
  void sum(const Transfer& transfer);
  void await_and_reduce(const Transfer& transfer);
  void receive(const Transfer& transfer, Arrivals arrivals);
  void take(const Tile& tile, BufferId payload, const Origin& origin, Arrivals arrivals);
  bool sums_find_scales() const;
  Offset offset(std::uint32_t round) const;
  Origin sender(std::uint32_t round) const { return {.offset = offset(length_ - round)}; }

  ProgramWriter& writer_;
  MinishardWriter minishards_;
  ExchangeLevel level_;
  std::uint32_t length_;                     ///< ranks among which it is
  std::vector<Tile> own_;                    ///< minishards of the own chunks, of all segments
  std::vector<EncodedMinishard> own_terms_;  ///< of these, where they are coded
  ChannelId first_channel_ = 0;              ///< of round 1; the others follow
};

}  // namespace equarx::collectives
