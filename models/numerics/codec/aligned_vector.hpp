// Vectors aligned to cache lines.
#pragma once

#include <cstddef>
#include <new>
#include <utility>
#include <vector>

namespace equarx::numerics {

/// Allocates at multiples of a cache line (64 bytes on current processors). Default-initializes new
/// elements, so buffers that are about to be overwritten are not cleared first.
template <class T>
struct CacheLineAllocator {
  using value_type = T;
  static constexpr std::align_val_t kLine{64};

  CacheLineAllocator() = default;
  template <class Other>
  CacheLineAllocator(const CacheLineAllocator<Other>&) {}  // NOLINT(google-explicit-constructor)

  T* allocate(std::size_t count) {
    return static_cast<T*>(::operator new(count * sizeof(T), kLine));
  }
  void deallocate(T* memory, std::size_t /*count*/) { ::operator delete(memory, kLine); }
  template <class Other>
  void construct(Other* memory) {
    ::new (static_cast<void*>(memory)) Other;
  }
  template <class Other, class... Values>
  void construct(Other* memory, Values&&... values) {
    ::new (static_cast<void*>(memory)) Other(std::forward<Values>(values)...);
  }
  bool operator==(const CacheLineAllocator&) const { return true; }
};

/// Buffer for BlockCodec. BlockCodec accepts any alignment, but heap blocks start 16 bytes after a
/// cache line, where every 64-byte vector spans two lines: an int8 hop is then 1.5x slower.
template <class T>
using AlignedVector = std::vector<T, CacheLineAllocator<T>>;

}  // namespace equarx::numerics
