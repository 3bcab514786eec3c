// Summation of arriving minishards in the steps of a ReduceScatter on rings.
#pragma once

#include <vector>

#include "models/collectives/ring_strand.hpp"

namespace equarx::collectives {

/// Location of a ring's sums: FP32 if hops are quantized, else the wire format.
Operand ring_sums_in(const Program& program);

/// A minishard to encode and the directions to send it in.
struct Outgoing {
  Tile tile;
  std::vector<Direction> directions;
};

/// Adds, encodes and sends the sums of one strand.
class RingSums {
 public:
  explicit RingSums(RingStrand& strand) : strand_(strand), writer_(strand.writer()) {}

  /// Adds the arrivals on `paths` to the local values and sends the sums on in the format of
  /// `phase`. Each microshard leaves as soon as possible: with scales, only after the scales of its
  /// whole minishard, which are sent first. `scales_found`: the scales are computed along with the
  /// sums.
  void sum_and_send(const std::vector<Path>& paths, Phase phase,
                    const std::vector<Outgoing>& outgoing, bool scales_found);

  /// Adds the last arrivals of a stage, which all end in one tile. `store`: write it to the result.
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
  Operand sums() const;
  Operand source() const;

  RingStrand& strand_;
  ProgramWriter& writer_;
};

}  // namespace equarx::collectives
