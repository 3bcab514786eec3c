// Sharding of a layer over the chips of a slice.
#pragma once

#include <cstdint>

#include "models/workloads/transformer.hpp"

namespace equarx::workloads {

/// Shard of every layer on one chip. The same on all chips.
struct Shard {
  std::uint32_t chips = 1;
  std::uint32_t heads = 0;
  std::uint32_t kv_heads = 0;
  std::uint32_t ffn = 0;         ///< inner width of the FFN of dense layers
  std::uint32_t expert_ffn = 0;  ///< inner width of an expert
  std::uint32_t shared_ffn = 0;  ///< inner width of the experts of all tokens
  std::uint32_t vocabulary = 0;  ///< rows of the embedding table, rounded up
};

/// Divides heads and the inner widths of the FFN and of experts over `chips`, which must divide them. Key and value
/// heads are divided too if there are enough. With fewer of them than chips, each is replicated on
/// the chips whose query heads share it, so `chips` must be a multiple of their number.
/// @throws std::invalid_argument with the supported numbers of chips.
Shard shard(const Transformer& model, std::uint32_t chips);

/// Elements cached per position and layer on each chip: keys and values of its heads, or the latent
/// vector and rotary key, which all chips have.
double cached_elements(const Transformer& model, std::uint32_t chips);

}  // namespace equarx::workloads
