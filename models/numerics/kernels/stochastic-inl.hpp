// Vectorised stochastic rounding, equivalent to encode_stochastic() of the element types.
// Compiled once per instruction set: the include guard toggles with foreach_target.h.
#if defined(EQUARX_NUMERICS_KERNELS_STOCHASTIC_INL_HPP_) == defined(HWY_TARGET_TOGGLE)
#ifdef EQUARX_NUMERICS_KERNELS_STOCHASTIC_INL_HPP_
#undef EQUARX_NUMERICS_KERNELS_STOCHASTIC_INL_HPP_
#else
#define EQUARX_NUMERICS_KERNELS_STOCHASTIC_INL_HPP_
#endif

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

#include <hwy/highway.h>

#include "models/numerics/kernels/codes-inl.hpp"
#include "models/numerics/kernels/kernels.hpp"
#include "models/numerics/kernels/lanes-inl.hpp"
#include "models/numerics/kernels/packing-inl.hpp"
#include "models/numerics/kernels/philox-inl.hpp"
#include "models/numerics/kernels/small_floats-inl.hpp"
#include "models/numerics/random/rounding_key.hpp"

HWY_BEFORE_NAMESPACE();
namespace equarx::numerics::kernels {
namespace HWY_NAMESPACE {
namespace {

// Packed formats do not support stochastic rounding.
template <class Element>
concept Stochastic = !kPacked<Element> && requires {
  Element::encode_stochastic(0.0F, 0U);
};

// Elements whose random words are computed at once; they fit in the L1 cache.
constexpr std::size_t kDrawn = 1024;

// Random words of up to kDrawn consecutive elements.
class RoundingWords {
 public:
  HWY_INLINE RoundingWords(const RoundingKey& key, std::size_t count)
      : skipped_(key.first_element % kElementsPerCounter) {
    const CounterRange range{key.first_element / kElementsPerCounter, key.rank,
                             rounding_stream(key)};
    const std::size_t counters = (skipped_ + count + kElementsPerCounter - 1) / kElementsPerCounter;
    draw_interleaved(range, counters, philox_key(key.seed), words_.data());
  }
  const std::uint32_t* from(std::size_t element) const {
    return words_.data() + skipped_ + element;
  }

 private:
  std::size_t skipped_;
  std::array<std::uint32_t, kDrawn + kElementsPerCounter*(1 + spare_counters())> words_;
};

// Vectorised unit_of() of rounding_key.hpp.
HWY_INLINE Vector units_of(const std::uint32_t* words) {
  const auto upper = hn::ShiftRight<8>(hn::LoadU(Words(), words));
  return hn::Mul(hn::ConvertTo(Floats(), hn::BitCast(Ints(), upper)), hn::Set(Floats(), 0x1p-24F));
}

// Rounds `steps` to an integer: down, or up where `unit` is below its fraction.
HWY_INLINE Vector whole_steps(Vector steps, Vector unit) {
  const Vector below = hn::Floor(steps);
  const auto away = hn::Lt(unit, hn::Sub(steps, below));
  return hn::Add(below, hn::IfThenElseZero(away, hn::Set(Floats(), 1.0F)));
}

template <class Element>
HWY_INLINE hn::Vec<Words> encode_integers_randomly(Vector ratios, Vector units) {
  Vector numbers = without_nan(ratios);
  if constexpr (Element::kCodesPerUnit != 1.0F)
    numbers = hn::Mul(numbers, hn::Set(Floats(), Element::kCodesPerUnit));
  const Vector size = hn::Min(hn::Abs(numbers), hn::Set(Floats(), Element::kLargestCode));
  const Vector code = hn::CopySignToAbs(whole_steps(size, units), numbers);
  return hn::BitCast(Words(), hn::Add(code, hn::Set(Floats(), kAligned)));
}

// The step depends on the magnitude's binade; subnormals share the step of the first binade.
// Multiplying by its inverse, a power of two, is exact.
template <class Element>
HWY_INLINE hn::Vec<Words> encode_small_randomly(Vector ratios, Vector units) {
  using Format = SmallFloat<Element>;
  constexpr int kDropped = kFloatMantissaBits - Format::kMantissaBits;
  const auto size = hn::And(hn::BitCast(Ints(), ratios), ints(kMagnitudeMask));
  const auto within = hn::Min(size, ints(std::bit_cast<std::int32_t>(Format::kLargest)));
  const auto least = ints(power_of_two_bits(Format::kMinExponent));
  const auto binade = hn::Max(hn::And(within, ints(kInfinityBits)), least);
  const auto inverse =
      hn::Sub(ints((2 * kFloatBias + Format::kMantissaBits) << kFloatMantissaBits), binade);
  const Vector steps = hn::Mul(hn::BitCast(Floats(), within), hn::BitCast(Floats(), inverse));
  const auto lower_binades = hn::ShiftRight<kDropped>(hn::Sub(binade, least));
  const Vector shifted = hn::Add(whole_steps(steps, units), hn::Set(Floats(), kAligned));
  const auto finite = hn::Add(hn::BitCast(Ints(), shifted), lower_binades);
  return with_signs<Element>(with_specials<Element>(finite, size), ratios);
}

// Returns the code in the low bits of each lane; higher bits are garbage. Integers are added to the
// bits of kAligned.
template <Stochastic Element>
HWY_INLINE hn::Vec<Words> encode_randomly(Vector ratios, const std::uint32_t* words) {
  const Vector units = units_of(words);
  if constexpr (Element::kInteger) return encode_integers_randomly<Element>(ratios, units);
  if constexpr (!Element::kInteger) return encode_small_randomly<Element>(ratios, units);
}

template <Stochastic Element, class Scales>
HWY_INLINE void quantize_run_randomly(const float* values, std::size_t count, const Scales& scales,
                                      const std::uint32_t* words, std::byte* codes) {
  std::size_t i = 0;
  for (; i + lanes() <= count; i += lanes()) {
    const Vector ratios = quotients(load(values + i), scales, i);
    store_codes<Element>(encode_randomly<Element>(ratios, words + i), codes + i);
  }
  for (; i < count; ++i)
    codes[i] = static_cast<std::byte>(
        Element::encode_stochastic(quotient(values[i], scales, i), words[i]));
}

template <Stochastic Element>
void quantize_randomly(const Piece& piece, std::span<const float> values, std::byte* codes) {
  in_chunks(piece, values.size(), kDrawn,
            [&](const Piece& part, std::size_t before, std::size_t count) {
              const RoundingWords words(part.key, count);
              visit_scales(part, count,
                           [&](std::size_t more, std::size_t length, std::size_t, auto scales) {
                             const std::size_t done = before + more;
                             quantize_run_randomly<Element>(values.data() + done, length, scales,
                                                            words.from(more), codes + done);
                           });
            });
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace equarx::numerics::kernels
HWY_AFTER_NAMESPACE();

#endif
