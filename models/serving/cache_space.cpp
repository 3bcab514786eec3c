#include "models/serving/cache_space.hpp"

#include <algorithm>
#include <utility>

namespace equarx::serving {

CacheSpace::CacheSpace(const KvCache& cache, double prefix_bytes, bool keeps_blocks)
    : cache_(cache), used_bytes_(prefix_bytes), peak_bytes_(prefix_bytes) {
  if (keeps_blocks) blocks_.emplace(cache.blocks());
}

std::uint64_t CacheSpace::found(const Sequence& sequence) const {
  if (!blocks_) return sequence.prefix;
  return blocks_->present(text_of(sequence), reusable_blocks(sequence)) * cache_.block();
}

bool CacheSpace::grow(Sequence& sequence, std::uint64_t positions) {
  if (!blocks_) return grow_bytes(sequence, positions);
  const std::uint64_t size = cache_.block();
  if (!blocks_->extend(sequence.held, text_of(sequence), (positions + size - 1) / size,
                       positions / size, reusable_blocks(sequence)))
    return false;
  used_bytes_ = cache_.bytes(blocks_->used() * size);
  peak_bytes_ = std::max(peak_bytes_, used_bytes_);
  return true;
}

void CacheSpace::release(Sequence& sequence) {
  used_bytes_ -= std::exchange(sequence.held_bytes, 0.0);
  if (!blocks_) return;
  blocks_->release(sequence.held);
  used_bytes_ = cache_.bytes(blocks_->used() * cache_.block());
}

bool CacheSpace::grow_bytes(Sequence& sequence, std::uint64_t positions) {
  const double needed = cache_.bytes(positions) - cache_.bytes(sequence.prefix);
  const double more = std::max(0.0, needed - sequence.held_bytes);
  if (used_bytes_ + more > cache_.capacity_bytes()) return false;
  sequence.held_bytes += more;
  used_bytes_ += more;
  peak_bytes_ = std::max(peak_bytes_, used_bytes_);
  return true;
}

/// Leading blocks that may be found: the last position is computed.
std::uint64_t CacheSpace::reusable_blocks(const Sequence& sequence) const {
  return (sequence.known() - 1) / cache_.block();
}

/// Texts of prefixes are even numbers, texts of sequences odd ones.
BlockText CacheSpace::text_of(const Sequence& sequence) const {
  return {.prefix = 2 * sequence.prefix_text,
          .prefix_blocks = sequence.prefix_tokens / cache_.block(),
          .own = 2 * sequence.request + 1};
}

}  // namespace equarx::serving
