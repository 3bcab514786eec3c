// Vectorised elementary functions from IEEE operations in a fixed order: the same bits with every
// instruction set. Polynomial coefficients: Moshier, Cephes library, single precision (logf, sinf,
// cosf, expf), relative errors about 2^-23.
// Compiled once per instruction set: the include guard toggles with foreach_target.h.
#if defined(EQUARX_NUMERICS_KERNELS_ELEMENTARY_INL_HPP_) == defined(HWY_TARGET_TOGGLE)
#ifdef EQUARX_NUMERICS_KERNELS_ELEMENTARY_INL_HPP_
#undef EQUARX_NUMERICS_KERNELS_ELEMENTARY_INL_HPP_
#else
#define EQUARX_NUMERICS_KERNELS_ELEMENTARY_INL_HPP_
#endif

#include <cstdint>
#include <numbers>

#include <hwy/highway.h>

#include "models/numerics/kernels/lanes-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace equarx::numerics::kernels {
namespace HWY_NAMESPACE {
namespace {

constexpr int kMantissa = 23;  // bits
constexpr int kWordBits = 32;

HWY_INLINE Vector constant(float value) { return hn::Set(Floats(), value); }
HWY_INLINE hn::Vec<Ints> whole(std::int32_t value) { return hn::Set(Ints(), value); }
HWY_INLINE hn::Vec<Words> word(std::uint32_t value) { return hn::Set(Words(), value); }

// Computes p t + c with two roundings; fused operations would give different bits where available.
HWY_INLINE Vector horner(Vector p, Vector t, float c) {
  return hn::Add(hn::Mul(p, t), constant(c));
}

// Natural logarithm of positive normal numbers.
HWY_INLINE Vector log_of(Vector x) {
  // Splits x = 2^exponent * m with m in [sqrt(1/2), sqrt(2)).
  constexpr std::int32_t kSqrtHalfBits = 0x3f3504f3;
  const auto offset = hn::Sub(hn::BitCast(Ints(), x), whole(kSqrtHalfBits));
  const auto fraction = hn::And(offset, whole((1 << kMantissa) - 1));
  const Vector m = hn::BitCast(Floats(), hn::Add(fraction, whole(kSqrtHalfBits)));
  const Vector e = hn::ConvertTo(Floats(), hn::ShiftRight<kMantissa>(offset));
  const Vector t = hn::Sub(m, constant(1.0F));
  const Vector t2 = hn::Mul(t, t);
  Vector p = constant(7.0376836292E-2F);
  p = horner(p, t, -1.1514610310E-1F);
  p = horner(p, t, 1.1676998740E-1F);
  p = horner(p, t, -1.2420140846E-1F);
  p = horner(p, t, 1.4249322787E-1F);
  p = horner(p, t, -1.6668057665E-1F);
  p = horner(p, t, 2.0000714765E-1F);
  p = horner(p, t, -2.4999993993E-1F);
  p = horner(p, t, 3.3333331174E-1F);
  // log(2) in two parts; the product of the first with an exponent is exact.
  constexpr float kLog2High = 0.693359375F;
  constexpr float kLog2Low = -2.12194440e-4F;
  const Vector cubic = hn::Add(hn::Mul(hn::Mul(p, t), t2), hn::Mul(e, constant(kLog2Low)));
  const Vector rest = hn::Add(hn::Sub(cubic, hn::Mul(constant(0.5F), t2)), t);
  return hn::Add(rest, hn::Mul(e, constant(kLog2High)));
}

struct SinCos {
  Vector sine;
  Vector cosine;
};

// Sine and cosine for |x| up to an eighth of a turn.
HWY_INLINE SinCos sincos_near_zero(Vector x) {
  const Vector x2 = hn::Mul(x, x);
  Vector s = horner(constant(-1.9515295891E-4F), x2, 8.3321608736E-3F);
  s = horner(s, x2, -1.6666654611E-1F);
  s = hn::Add(hn::Mul(hn::Mul(s, x2), x), x);
  Vector c = horner(constant(2.443315711809948E-5F), x2, -1.388731625493765E-3F);
  c = horner(c, x2, 4.166664568298827E-2F);
  c = hn::Sub(hn::Mul(hn::Mul(c, x2), x2), hn::Mul(constant(0.5F), x2));
  return {s, hn::Add(c, constant(1.0F))};
}

// Sine and cosine of the angles 2 pi word / 2^32.
HWY_INLINE SinCos sincos_of(hn::Vec<Words> words) {
  // Nearest quarter turn, and the remainder.
  constexpr std::uint32_t kEighth = 1U << (kWordBits - 3);
  const auto quarter = hn::ShiftRight<kWordBits - 2>(hn::Add(words, word(kEighth)));
  const auto rest = hn::Sub(words, hn::ShiftLeft<kWordBits - 2>(quarter));
  const Vector turned = hn::ConvertTo(Floats(), hn::BitCast(Ints(), rest));
  const SinCos near =
      sincos_near_zero(hn::Mul(turned, constant(std::numbers::pi_v<float> * 0x1p-31F)));
  // An odd number of quarter turns exchanges sine and cosine; signs follow the quadrant.
  const auto odd = hn::Eq(hn::And(quarter, word(1)), word(1));
  const auto exchanged = hn::RebindMask(Floats(), odd);
  const auto sine = hn::BitCast(Words(), hn::IfThenElse(exchanged, near.cosine, near.sine));
  const auto cosine = hn::BitCast(Words(), hn::IfThenElse(exchanged, near.sine, near.cosine));
  constexpr int kToSign = kWordBits - 2;
  const auto sine_sign = hn::ShiftLeft<kToSign>(hn::And(quarter, word(2)));
  const auto cosine_sign = hn::ShiftLeft<kToSign>(hn::And(hn::Add(quarter, word(1)), word(2)));
  return {hn::BitCast(Floats(), hn::Xor(sine, sine_sign)),
          hn::BitCast(Floats(), hn::Xor(cosine, cosine_sign))};
}

// e^x for x in [0, 80].
HWY_INLINE Vector exp_of(Vector x) {
  // Nearest integer, by adding a number whose last bit equals 1.
  const Vector shifted = horner(x, constant(std::numbers::log2e_v<float>), kAligned);
  const Vector n = hn::Sub(shifted, constant(kAligned));
  const auto power = hn::Sub(hn::BitCast(Ints(), shifted), hn::BitCast(Ints(), constant(kAligned)));
  const Vector r = hn::Sub(hn::Sub(x, hn::Mul(n, constant(0.693359375F))),
                           hn::Mul(n, constant(-2.12194440e-4F)));
  Vector p = constant(1.9875691500E-4F);
  p = horner(p, r, 1.3981999507E-3F);
  p = horner(p, r, 8.3334519073E-3F);
  p = horner(p, r, 4.1665795894E-2F);
  p = horner(p, r, 1.6666665459E-1F);
  p = horner(p, r, 5.0000001201E-1F);
  const Vector e = hn::Add(hn::Add(hn::Mul(hn::Mul(p, r), r), r), constant(1.0F));
  return hn::BitCast(Floats(), hn::Add(hn::BitCast(Ints(), e), hn::ShiftLeft<kMantissa>(power)));
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace equarx::numerics::kernels
HWY_AFTER_NAMESPACE();

#endif
