// Vectors at the end of a run whose last lanes lie beyond it.
// Compiled once per instruction set: the include guard toggles with foreach_target.h.
#if defined(EQUARX_NUMERICS_KERNELS_PARTIAL_INL_HPP_) == defined(HWY_TARGET_TOGGLE)
#ifdef EQUARX_NUMERICS_KERNELS_PARTIAL_INL_HPP_
#undef EQUARX_NUMERICS_KERNELS_PARTIAL_INL_HPP_
#else
#define EQUARX_NUMERICS_KERNELS_PARTIAL_INL_HPP_
#endif

#include <algorithm>
#include <array>
#include <cstddef>

#include <hwy/highway.h>

#include "models/numerics/kernels/lanes-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace equarx::numerics::kernels {
namespace HWY_NAMESPACE {
namespace {

constexpr std::size_t kMostLanes = HWY_MAX_BYTES / sizeof(float);

// Calls act(first element, number of elements) for vectors from `begin` to `end`.
template <class Act>
HWY_INLINE void for_each_vector(std::size_t begin, std::size_t end, Act act) {
  for (std::size_t i = begin; i < end; i += lanes()) act(i, std::min(lanes(), end - i));
}

// Calls load(pointer) with the elements, followed by zeros.
template <class T, class Load>
HWY_INLINE auto load_some(const T* from, std::size_t count, Load load) {
  if (HWY_LIKELY(count == lanes())) return load(from);
  std::array<T, kMostLanes> room{};
  std::copy_n(from, count, room.data());
  return load(static_cast<const T*>(room.data()));
}
HWY_INLINE Vector load_some(const float* from, std::size_t count) {
  return load_some(from, count, [](const float* all) HWY_ATTR { return load(all); });
}

// Calls store(pointer) and keeps the first elements.
template <class T, class Store>
HWY_INLINE void store_some(T* to, std::size_t count, Store store) {
  if (HWY_LIKELY(count == lanes())) return store(to);
  std::array<T, kMostLanes> room;
  store(room.data());
  std::copy_n(room.data(), count, to);
}
HWY_INLINE void store_some(Vector vector, float* to, std::size_t count) {
  store_some(to, count, [&](float* all) HWY_ATTR { store(vector, all); });
}

// True in the first `count` lanes.
HWY_INLINE hn::Mask<Words> first_lanes(std::size_t count) { return hn::FirstN(Words(), count); }

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace equarx::numerics::kernels
HWY_AFTER_NAMESPACE();

#endif
