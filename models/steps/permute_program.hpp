// A permute as a program, which is timed like any other.
#pragma once

#include <cstdint>
#include <vector>

#include "models/collectives/program.hpp"

namespace equarx::steps {

/// What chips do in a Permute: those that send start one DMA, those that receive wait for it.
struct PermuteProgram {
  /// For the time executor only: its values are not ours to know, and it has one channel, whose peers are `peer_of_chip`
  /// and not its offset's.
  collectives::Program program;
  std::vector<collectives::Rank>
      rank_of_chip;  ///< those that only send are first, then those that do both
  std::vector<std::uint32_t> peer_of_chip;  ///< whom each sends to; itself if to nobody
};

/// `pairs`: of numbers of chips, from and to; why_no_pairs() has nothing against them. `chips`: two or more
PermuteProgram permute_program(const std::vector<std::vector<std::uint32_t>>& pairs,
                               std::uint32_t chips, std::uint64_t bytes);

}  // namespace equarx::steps
