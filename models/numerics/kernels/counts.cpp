#include <cstddef>
#include <span>

#include "models/numerics/elements/element_codecs.hpp"
#include "models/numerics/kernels/kernels.hpp"

// foreach_target.h re-includes this file once per instruction set. The -inl headers follow it, so
// that they are compiled for each instruction set too.
// clang-format off
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "models/numerics/kernels/counts.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
#include "models/numerics/kernels/counts-inl.hpp"
#include "models/numerics/kernels/stochastic-inl.hpp"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace equarx::numerics::kernels {
namespace HWY_NAMESPACE {
namespace {

QuantizeCounts Count(const Piece& piece, std::span<const float> values) {
  QuantizeCounts counts;
  counts.elements = values.size();
  with_element(piece.format.element, [&](auto element) {
    using Element = decltype(element);
    if constexpr (Stochastic<Element>) {
      if (piece.format.rounding == Rounding::stochastic)
        return count_random<Element>(piece, values, counts);
    }
    count_nearest<Element>(piece, values, counts);
  });
  return counts;
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace equarx::numerics::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace equarx::numerics::kernels {

namespace {
HWY_EXPORT(Count);
}  // namespace

QuantizeCounts count(const Piece& piece, std::span<const float> values) {
  return HWY_DYNAMIC_DISPATCH(Count)(piece, values);
}

}  // namespace equarx::numerics::kernels
#endif
