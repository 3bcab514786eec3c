// What every step of a ReduceScatter on rings does with the minishards that arrive.
#pragma once

#include <vector>

#include "models/collectives/ring_strand.hpp"

namespace equarx::collectives {

/// Where a ring leaves its sums: in FP32 where hops are quantized, else in the wire's format.
Operand ring_sums_in(const Program& program);

/// A minishard to encode, and where to send it.
struct Outgoing {
  Tile tile;
  std::vector<Direction> directions;
};

/// Sums of one strand: adds, encodes and sends.
class RingSums {
 public:
  explicit RingSums(RingStrand& strand) : strand_(strand), writer_(strand.writer()) {}

  /// Adds what arrives on `paths` to the local values, and sends the sums on in the format of `phase`.
  /// Each microshard leaves as soon as it can: one with scales has to wait until those of its whole
  /// minishard are known, which are sent first. `scales_found`: as the sums are formed.
  void sum_and_send(const std::vector<Path>& paths, Phase phase,
                    const std::vector<Outgoing>& outgoing, bool scales_found);

  /// Adds the last arrivals of a stage, which all end in one tile; `store`: into the result.
  void finish(const std::vector<Path>& paths, bool store);

 private:
  std::vector<SentMinishard> await_scales(const std::vector<Path>& paths);
  void sum(const std::vector<Path>& paths, const std::vector<SentMinishard>& arrivals,
           std::uint32_t micro, bool finds_scales);
  std::vector<BufferId> send_scales(Phase phase, const std::vector<Outgoing>& outgoing,
                                    Operand operand, bool scales_found);
  void find_scales(Phase phase, const std::vector<Outgoing>& outgoing, Operand operand);
  BufferId encode_and_send_scales(Phase phase, const Outgoing& outgoing);
  void encode_and_send_payload(Phase phase, const Outgoing& outgoing, std::uint32_t micro,
                               Operand operand, BufferId scales);
  Operand carried() const;
  Operand brought() const;

  RingStrand& strand_;
  ProgramWriter& writer_;
};

}  // namespace equarx::collectives
