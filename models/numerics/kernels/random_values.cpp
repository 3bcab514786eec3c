#include "models/numerics/kernels/random_values.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

// foreach_target.h re-includes this file once per instruction set. The -inl headers follow it, so
// that they are compiled for each instruction set too.
// clang-format off
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "models/numerics/kernels/random_values.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
#include "models/numerics/kernels/elementary-inl.hpp"
#include "models/numerics/kernels/philox-inl.hpp"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace equarx::numerics::kernels {
namespace HWY_NAMESPACE {
namespace {

// Words of kBlockCounters counters, as four arrays: all first words, all second words, and so on.
class Batch {
 public:
  HWY_INLINE Batch(const BlockOfValues& block, std::uint64_t batch) {
    const CounterRange range{batch * kBlockCounters, block.rank, 0};
    std::uint32_t* const to[4] = {words_[0].data(), words_[1].data(), words_[2].data(),
                                  words_[3].data()};
    draw_apart(range, kBlockCounters, philox_key(block.seed), to);
  }
  HWY_INLINE const std::uint32_t* words(std::size_t which) const { return words_[which].data(); }

 private:
  std::array<std::array<std::uint32_t, kBlockCounters + spare_counters()>, 4> words_;
};

HWY_INLINE hn::Vec<Words> load_words(const std::uint32_t* from) { return hn::LoadU(Words(), from); }

// Uniform on (0, 1], at least 2^-32. Uses 31 bits, because SSE2 converts signed integers only.
HWY_INLINE Vector unit_interval(hn::Vec<Words> words) {
  const auto upper = hn::BitCast(Ints(), hn::ShiftRight<1>(words));
  return hn::Mul(hn::Add(hn::ConvertTo(Floats(), upper), constant(0.5F)), constant(0x1p-31F));
}

// Writes radius times cosine to `out`, radius times sine kBlockCounters further.
template <bool kCosines, bool kSines>
void box_muller(const std::uint32_t* radii, const std::uint32_t* angles, float* out) {
  for (std::size_t i = 0; i < kBlockCounters; i += lanes()) {
    const Vector log = log_of(unit_interval(load_words(radii + i)));
    const Vector radius = hn::Sqrt(hn::Mul(constant(-2.0F), log));
    const SinCos angle = sincos_of(load_words(angles + i));
    if constexpr (kCosines) store(hn::Mul(radius, angle.cosine), out + i);
    if constexpr (kSines) store(hn::Mul(radius, angle.sine), out + kBlockCounters + i);
  }
}

// A half of a block of normal values.
void fill_half(const Batch& batch, std::size_t half, Quarters quarters, RandomBlock block) {
  const bool cosines = quarters.contain(2 * half);
  const bool sines = quarters.contain(2 * half + 1);
  const std::uint32_t* const radii = batch.words(2 * half);
  const std::uint32_t* const angles = batch.words(2 * half + 1);
  float* const out = block.data() + 2 * half * kBlockCounters;
  if (cosines && sines) return box_muller<true, true>(radii, angles, out);
  if (cosines) return box_muller<true, false>(radii, angles, out);
  if (sines) box_muller<false, true>(radii, angles, out);
}

void student_t3(const std::uint32_t* radii, const std::uint32_t* angles, float* out) {
  for (std::size_t i = 0; i < kBlockCounters; i += lanes()) {
    const Vector log = log_of(unit_interval(load_words(radii + i)));
    const Vector power = exp_of(hn::Mul(log, constant(-2.0F / 3.0F)));
    const Vector above = hn::Max(hn::Sub(power, constant(1.0F)), hn::Zero(Floats()));
    const SinCos angle = sincos_of(load_words(angles + i));
    store(hn::Mul(hn::Sqrt(above), angle.cosine), out + i);
  }
}

void FillNormal(const BlockOfValues& block, Quarters quarters, RandomBlock out) {
  const Batch batch(block, block.index);
  for (std::size_t half = 0; half < 2; ++half) fill_half(batch, half, quarters, out);
}

void FillUniform(const BlockOfValues& block, Quarters quarters, RandomBlock out) {
  constexpr int kUnused = kWordBits - kMantissa - 1;
  const Batch batch(block, block.index);
  for (std::size_t w = quarters.begin; w < quarters.end; ++w) {
    for (std::size_t i = 0; i < kBlockCounters; i += lanes()) {
      const auto bits = hn::BitCast(Ints(), load_words(batch.words(w) + i));
      const Vector number = hn::ConvertTo(Floats(), hn::ShiftRight<kUnused>(bits));
      store(hn::Mul(number, constant(0x1p-23F)), out.data() + w * kBlockCounters + i);
    }
  }
}

void FillHeavyTailed(const BlockOfValues& block, Quarters quarters, RandomBlock out) {
  for (std::size_t half = 0; half < 2; ++half) {
    const bool first = quarters.contain(2 * half);
    const bool second = quarters.contain(2 * half + 1);
    if (!first && !second) continue;
    const Batch batch(block, 2 * block.index + half);
    float* const to = out.data() + 2 * half * kBlockCounters;
    if (first) student_t3(batch.words(0), batch.words(1), to);
    if (second) student_t3(batch.words(2), batch.words(3), to + kBlockCounters);
  }
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace equarx::numerics::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace equarx::numerics::kernels {

namespace {
HWY_EXPORT(FillNormal);
HWY_EXPORT(FillUniform);
HWY_EXPORT(FillHeavyTailed);
}  // namespace

void fill_normal(const BlockOfValues& block, Quarters quarters, RandomBlock out) {
  HWY_DYNAMIC_DISPATCH(FillNormal)(block, quarters, out);
}

void fill_uniform(const BlockOfValues& block, Quarters quarters, RandomBlock out) {
  HWY_DYNAMIC_DISPATCH(FillUniform)(block, quarters, out);
}

void fill_heavy_tailed(const BlockOfValues& block, Quarters quarters, RandomBlock out) {
  HWY_DYNAMIC_DISPATCH(FillHeavyTailed)(block, quarters, out);
}

}  // namespace equarx::numerics::kernels
#endif
