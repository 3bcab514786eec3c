// Room for the KV caches of a replica's sequences.
#pragma once

#include <cstdint>
#include <optional>

#include "models/serving/block_pool.hpp"
#include "models/serving/kv_cache.hpp"
#include "models/serving/sequence.hpp"

namespace equarx::serving {

/// KV cache of a chip in use, counted in bytes, or as blocks that are found again.
class CacheSpace {
 public:
  /// `prefix_bytes`: held for prefixes shared by all requests. `keeps_blocks`: full blocks stay
  /// until their room is needed; all layers must then keep all keys. `cache` must outlive it.
  CacheSpace(const KvCache& cache, double prefix_bytes, bool keeps_blocks);

  /// Positions of a waiting sequence that are cached, and not its last one.
  std::uint64_t found(const Sequence& sequence) const;

  /// Extends the cache of a sequence to `positions`; false if there is no room. A sequence without
  /// cache begins with the positions found.
  bool grow(Sequence& sequence, std::uint64_t positions);

  /// Frees the cache of a sequence.
  void release(Sequence& sequence);

  double used_bytes() const { return used_bytes_; }
  double peak_bytes() const { return peak_bytes_; }
  std::uint64_t evicted_blocks() const { return blocks_ ? blocks_->evictions() : 0; }

 private:
  bool grow_bytes(Sequence& sequence, std::uint64_t positions);
  std::uint64_t reusable_blocks(const Sequence& sequence) const;
  BlockText text_of(const Sequence& sequence) const;

  const KvCache& cache_;
  std::optional<BlockPool> blocks_;
  double used_bytes_ = 0.0;
  double peak_bytes_ = 0.0;
};

}  // namespace equarx::serving
