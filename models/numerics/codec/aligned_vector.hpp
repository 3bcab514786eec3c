// Vectors that begin at a cache line.
#pragma once

#include <cstddef>
#include <new>
#include <utility>
#include <vector>

namespace equarx::numerics {

/// Allocates at multiples of a cache line: 64 bytes, as on all processors of today. Leaves new elements as they
/// are, unless they are given a value: what is decoded or encoded into them need not be cleared before.
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
  void construct(Other* place) {
    ::new (static_cast<void*>(place)) Other;
  }
  template <class Other, class... Values>
  void construct(Other* place, Values&&... values) {
    ::new (static_cast<void*>(place)) Other(std::forward<Values>(values)...);
  }
  bool operator==(const CacheLineAllocator&) const { return true; }
};

/// For what BlockCodec reads and writes. It asks for no alignment, but blocks of the heap begin 16 bytes
/// behind a cache line, where each vector of 64 bytes lies in two lines: a hop of int8 takes half as
/// long again there.
template <class T>
using AlignedVector = std::vector<T, CacheLineAllocator<T>>;

}  // namespace equarx::numerics
