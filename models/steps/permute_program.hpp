// A permute as a program that the time executor runs like any other.
#pragma once

#include <cstdint>
#include <vector>

#include "models/collectives/program.hpp"

namespace equarx::steps {

/// Program of a Permute: senders start one DMA, receivers wait for it.
struct PermuteProgram {
  /// For the time executor only, as values are unknown. Its single channel uses `peer_of_chip` as
  /// peers instead of its offset.
  collectives::Program program;
  /// Send-only chips come first, then chips that send and receive.
  std::vector<collectives::Rank> rank_of_chip;
  /// Receiver of each chip; the chip itself if it sends nothing.
  std::vector<std::uint32_t> peer_of_chip;
};

/// @param pairs  (sender, receiver) chip numbers, valid by pair_error()
/// @param chips  at least 2
PermuteProgram permute_program(const std::vector<std::vector<std::uint32_t>>& pairs,
                               std::uint32_t chips, std::uint64_t bytes);

}  // namespace equarx::steps
