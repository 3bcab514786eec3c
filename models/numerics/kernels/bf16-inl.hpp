// Vectorised bfloat16, equivalent to elements/bfloat16.hpp.
// Compiled once per instruction set: the include guard toggles with foreach_target.h.
#if defined(EQUARX_NUMERICS_KERNELS_BF16_INL_HPP_) == defined(HWY_TARGET_TOGGLE)
#ifdef EQUARX_NUMERICS_KERNELS_BF16_INL_HPP_
#undef EQUARX_NUMERICS_KERNELS_BF16_INL_HPP_
#else
#define EQUARX_NUMERICS_KERNELS_BF16_INL_HPP_
#endif

#include <cstddef>
#include <cstdint>

#include <hwy/highway.h>

#include "models/numerics/elements/bfloat16.hpp"
#include "models/numerics/kernels/lanes-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace equarx::numerics::kernels {
namespace HWY_NAMESPACE {
namespace {

// The rounded code is the upper half of each word; the lower half is garbage.
HWY_INLINE hn::Vec<Words> bf16_rounded(Vector values) {
  const auto bits = hn::BitCast(Words(), values);
  const auto below_half = hn::Set(Words(), detail::kBf16BelowHalf);
  const auto one = hn::Set(Words(), 1);
  const auto odd = hn::And(hn::ShiftRight<detail::kBf16DroppedBits>(bits), one);
  return hn::Add(hn::Add(bits, below_half), odd);
}

HWY_INLINE hn::Vec<Words> bf16_rounded_or_nan(Vector values) {
  constexpr std::uint32_t kQuiet = std::uint32_t{detail::kBf16QuietBit} << detail::kBf16DroppedBits;
  const auto quiet = hn::Or(hn::BitCast(Words(), values), hn::Set(Words(), kQuiet));
  const auto nan = hn::RebindMask(Words(), hn::IsNaN(values));
  return hn::IfThenElse(nan, quiet, bf16_rounded(values));
}

#if HWY_TARGET != HWY_SCALAR
// Encodes two vectors of values into one of codes. NaN is rare enough for a branch.
HWY_INLINE void encode_bf16_pair(const float* values, std::uint16_t* codes) {
  const hn::Repartition<std::uint16_t, Floats> whole;
  const Vector low = load(values);
  const Vector high = load(values + lanes());
  auto low_words = bf16_rounded(low);
  auto high_words = bf16_rounded(high);
  const auto nan = hn::Or(hn::IsNaN(low), hn::IsNaN(high));
  if (HWY_UNLIKELY(!hn::AllFalse(Floats(), nan))) {
    low_words = bf16_rounded_or_nan(low);
    high_words = bf16_rounded_or_nan(high);
  }
  const auto upper_halves =
      hn::ConcatOdd(whole, hn::BitCast(whole, high_words), hn::BitCast(whole, low_words));
  hn::StoreU(upper_halves, whole, codes);
}
#endif

HWY_INLINE Vector floats_of(hn::Vec<Words> bf16) {
  return hn::BitCast(Floats(), hn::ShiftLeft<detail::kBf16DroppedBits>(bf16));
}

HWY_INLINE Vector rounded_floats(Vector values) {
  constexpr std::uint32_t kUpperHalf = ~std::uint32_t{0} << detail::kBf16DroppedBits;
  return hn::BitCast(Floats(), hn::And(bf16_rounded_or_nan(values), hn::Set(Words(), kUpperHalf)));
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace equarx::numerics::kernels
HWY_AFTER_NAMESPACE();

#endif
