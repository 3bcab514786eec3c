// Vectors of FP32 numbers rounded to FP16, equivalent to round_to_fp16() of elements/float16.hpp.
// Compiled once per instruction set: the include guard toggles with foreach_target.h.
#if defined(EQUARX_NUMERICS_KERNELS_HALF_INL_HPP_) == defined(HWY_TARGET_TOGGLE)
#ifdef EQUARX_NUMERICS_KERNELS_HALF_INL_HPP_
#undef EQUARX_NUMERICS_KERNELS_HALF_INL_HPP_
#else
#define EQUARX_NUMERICS_KERNELS_HALF_INL_HPP_
#endif

#include <bit>
#include <cstdint>
#include <limits>

#include <hwy/highway.h>

#include "models/numerics/elements/float16.hpp"
#include "models/numerics/kernels/lanes-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace equarx::numerics::kernels {
namespace HWY_NAMESPACE {
namespace {

constexpr float kLargestHalf = 65504.0F;

#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX2 && !defined(HWY_DISABLE_F16C)

// These targets convert in one instruction: to nearest even, with subnormals, and to Inf beyond the
// largest number.
HWY_INLINE Vector rounded_halves(Vector values) {
  const hn::Rebind<hwy::float16_t, Floats> halves;
  return hn::PromoteTo(Floats(), hn::DemoteTo(halves, values));
}

#else

HWY_INLINE Vector rounded_halves(Vector values) {
  constexpr auto kMinNormalBits = std::bit_cast<std::int32_t>(detail::kFp16MinNormal);
  constexpr auto kOverflowBits = std::bit_cast<std::int32_t>(65520.0F);  // ties to Inf
  constexpr std::int32_t kInfinity = 0x7f800000;
  constexpr int kDropped = detail::kFp16DroppedBits;
  const auto set = [](std::int32_t value) HWY_ATTR { return hn::Set(Ints(), value); };
  const auto bits = hn::BitCast(Ints(), values);
  const auto size = hn::And(bits, set(kMagnitudeMask));
  const auto odd = hn::And(hn::ShiftRight<kDropped>(size), set(1));
  const auto raised = hn::Add(hn::Add(size, set((1 << (kDropped - 1)) - 1)), odd);
  const auto normal = hn::And(raised, set(~((1 << kDropped) - 1)));
  // The last bit of this number equals one subnormal step, so the addition rounds to such steps.
  const Vector step = hn::Set(Floats(), detail::kFp16MinSubnormal * 0x1p23F);
  const auto subnormal =
      hn::BitCast(Ints(), hn::Sub(hn::Add(hn::BitCast(Floats(), size), step), step));
  const auto number = hn::IfThenElse(hn::Lt(size, set(kMinNormalBits)), subnormal, normal);
  const auto finite = hn::IfThenElse(hn::Lt(size, set(kOverflowBits)), number, set(kInfinity));
  const auto with_nan = hn::IfThenElse(hn::Gt(size, set(kInfinity)), size, finite);
  return hn::BitCast(Floats(), hn::Or(with_nan, hn::AndNot(set(kMagnitudeMask), bits)));
}

#endif

// Rounds results in a mode in which finite ones stay finite: beyond the largest FP16 number, they
// become that number.
HWY_INLINE Vector saturated_halves(Vector values) {
  const Vector infinity = hn::Set(Floats(), std::numeric_limits<float>::infinity());
  const Vector rounded = rounded_halves(values);
  const auto infinite = hn::Eq(hn::Abs(rounded), infinity);
  if (HWY_LIKELY(hn::AllFalse(Floats(), infinite))) return rounded;
  const auto overflowed = hn::And(infinite, hn::Lt(hn::Abs(values), infinity));
  const Vector largest = hn::CopySign(hn::Set(Floats(), kLargestHalf), values);
  return hn::IfThenElse(overflowed, largest, rounded);
}

// The same for one number.
HWY_INLINE float saturated_half(float value) {
  const float size = value < 0.0F ? -value : value;
  if (size > kLargestHalf && size <= std::numeric_limits<float>::max())
    return value < 0.0F ? -kLargestHalf : kLargestHalf;
  return round_to_fp16(value);
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace equarx::numerics::kernels
HWY_AFTER_NAMESPACE();

#endif
