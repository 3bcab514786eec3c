// Format-independent loops over runs of elements with one source of scales: lanes with one scale
// each, a block with a shared scale, or elements without scales.
// Compiled once per instruction set: the include guard toggles with foreach_target.h.
#if defined(EQUARX_NUMERICS_KERNELS_RUNS_INL_HPP_) == defined(HWY_TARGET_TOGGLE)
#ifdef EQUARX_NUMERICS_KERNELS_RUNS_INL_HPP_
#undef EQUARX_NUMERICS_KERNELS_RUNS_INL_HPP_
#else
#define EQUARX_NUMERICS_KERNELS_RUNS_INL_HPP_
#endif

#include <cstddef>
#include <type_traits>

#include <hwy/highway.h>

#include "models/numerics/kernels/amax-inl.hpp"
#include "models/numerics/kernels/codes-inl.hpp"
#include "models/numerics/kernels/kernels.hpp"
#include "models/numerics/kernels/lanes-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace equarx::numerics::kernels {
namespace HWY_NAMESPACE {
namespace {

template <class Element, class Scales>
HWY_INLINE void quantize_run(const float* values, std::size_t count, const Scales& scales,
                             std::byte* codes) {
  constexpr bool kPlain =
      std::is_same_v<Scales, NoScale>;  // otherwise quotients() turned NaN into 0
  std::size_t i = 0;
#if HWY_TARGET != HWY_SCALAR
  if constexpr (std::is_same_v<Element, Bf16Element> && kPlain)
    for (; i + 2 * lanes() <= count; i += 2 * lanes())
      encode_bf16_pair(values + i,
                       reinterpret_cast<std::uint16_t*>(codes + i * kCodeBytes<Element>));
#endif
  for (; i + lanes() <= count; i += lanes()) {
    Vector ratios = quotients(load(values + i), scales, i);
    if constexpr (Element::kInteger && kPlain) ratios = without_nan(ratios);
    store_encoded<Element, kPlain>(ratios, codes + i * kCodeBytes<Element>);
  }
  for (; i < count; ++i)
    store_code<Element>(quotient(values[i], scales, i), codes + i * kCodeBytes<Element>);
}

template <class Element, class Scales>
HWY_INLINE void dequantize_run(const std::byte* codes, std::size_t count, const Scales& scales,
                               float* values) {
  std::size_t i = 0;
  for (; i + lanes() <= count; i += lanes())
    store(products(load_decoded<Element>(codes + i * kCodeBytes<Element>), scales, i), values + i);
  for (; i < count; ++i)
    values[i] = product(load_code<Element>(codes + i * kCodeBytes<Element>), scales, i);
}

template <class Element, class Scales, class Maximum>
HWY_INLINE void add_run(const std::byte* codes, std::size_t count, const Scales& scales,
                        const float* local, float* sums, Maximum maximum) {
  std::size_t i = 0;
  for (; i + lanes() <= count; i += lanes()) {
    const Vector decoded = load_decoded<Element>(codes + i * kCodeBytes<Element>);
    const Vector sum = hn::Add(load(local + i), products(decoded, scales, i));
    store(sum, sums + i);
    maximum.raise(sum, i);
  }
  for (; i < count; ++i) {
    const float decoded = load_code<Element>(codes + i * kCodeBytes<Element>);
    sums[i] = local[i] + product(decoded, scales, i);
    maximum.raise(sums[i], i);
  }
  maximum.finish();
}

// Adds kRegisters consecutive registers, or rows of fewer columns, which share one load of the scales
// and one load and store of the amax.
template <class Element, std::size_t kRegisters>
HWY_INLINE void add_registers(const std::byte* codes, std::size_t columns, const float* scales,
                              const float* local, float* sums, float* amax) {
  for (std::size_t i = 0; i < columns; i += lanes()) {
    const Vector scale = load(scales + i);
    Vector most = load(amax + i);
    for (std::size_t r = 0; r < kRegisters; ++r) {
      const std::size_t j = i + r * columns;
      const Vector decoded = load_decoded<Element>(codes + j * kCodeBytes<Element>);
      const Vector sum = hn::Add(load(local + j), hn::Mul(decoded, scale));
      store(sum, sums + j);
      most = larger(most, sum);
    }
    store(most, amax + i);
  }
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace equarx::numerics::kernels
HWY_AFTER_NAMESPACE();

#endif
