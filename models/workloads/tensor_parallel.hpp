// How a layer is divided over the chips of a slice.
#pragma once

#include <cstdint>

#include "models/workloads/transformer.hpp"

namespace equarx::workloads {

/// One chip's share of every layer. All chips have the same.
struct Shard {
  std::uint32_t chips = 1;
  std::uint32_t heads = 0;
  std::uint32_t kv_heads = 0;
  std::uint32_t ffn = 0;         ///< inner width
  std::uint32_t vocabulary = 0;  ///< rows of the embedding table, rounded up
};

/// Divides heads and the FFN's inner width over `chips`; they must divide. Key and value heads are
/// divided too where there are enough; where there are fewer than chips, the chips whose query heads share
/// one hold a copy of it each, so chips must be a multiple of them.
/// @throws std::invalid_argument with the numbers of chips that would do.
Shard shard(const Transformer& model, std::uint32_t chips);

}  // namespace equarx::workloads
