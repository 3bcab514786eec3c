#include <climits>
#include <cstddef>
#include <span>
#include <type_traits>

#include "models/numerics/elements/element_codecs.hpp"
#include "models/numerics/kernels/kernels.hpp"

// foreach_target.h re-includes this file once per instruction set. The -inl headers follow it, so
// that they are compiled for each instruction set too.
// clang-format off
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "models/numerics/kernels/quantize.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
#include "models/numerics/kernels/blocks-inl.hpp"
#include "models/numerics/kernels/counted_runs-inl.hpp"
#include "models/numerics/kernels/integers-inl.hpp"
#include "models/numerics/kernels/lane_counts-inl.hpp"
#include "models/numerics/kernels/packed_chunks-inl.hpp"
#include "models/numerics/kernels/runs-inl.hpp"
#include "models/numerics/kernels/stochastic-inl.hpp"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace equarx::numerics::kernels {
namespace HWY_NAMESPACE {
namespace {

// True for formats and numbers of elements that are counted as they are quantized: those most used
// by collectives.
template <class Element>
HWY_INLINE bool counts_at_once(const BlockFormat& format, std::size_t elements) {
  if (is_strided(format))
    return Element::kInteger ? bounds_pay_off(format, elements) : kSmall<Element>;
  return Element::kInteger && format.scaled && format.scale != ScaleFormat::e8m0 &&
         format.block >= kBoundedVectors * lanes() && format.block <= kMostCounted;
}

// `bounds`: bounds of strided scales; null for other layouts, or if computing them does not pay
// off.
template <class Element, class Counts>
void quantize_runs(const Piece& piece, std::span<const float> values,
                   const RegisterBounds<Element>* bounds, std::byte* codes, Counts& counts) {
  visit_scales(piece, values.size(),
               [&](std::size_t done, std::size_t length, std::size_t group, auto scales) {
                 using Scales = decltype(scales);
                 const float* from = values.data() + done;
                 std::byte* to = codes + done * kCodeBytes<Element>;
                 if constexpr (Element::kInteger && std::is_same_v<Scales, SharedScale>)
                   return quantize_block<Element>(from, length, scales, to, counts);
                 if constexpr (Element::kInteger && std::is_same_v<Scales, LaneScales>) {
                   if (bounds != nullptr)
                     return quantize_by_bounds<Element>(from, length, scales, bounds->from(group),
                                                        to, counts);
                 }
                 if constexpr (kSmall<Element> && std::is_same_v<Scales, LaneScales> &&
                               std::is_same_v<Counts, QuantizeCounts>)
                   return quantize_counted_run<Element>(from, length, scales, to, counts);
                 quantize_run<Element>(from, length, scales, to);
               });
}

template <class Element>
void quantize_codes(const Piece& piece, std::span<const float> values,
                    const RegisterBounds<Element>* bounds, std::byte* codes) {
  NoCounts none;
  const bool powers_of_two = piece.format.scale == ScaleFormat::e8m0;
  // For integers whose scales are not powers of two, bounds are faster.
  if (Element::kInteger && !powers_of_two)
    return quantize_runs<Element>(piece, values, bounds, codes, none);
  const std::size_t block = piece.format.block;
  split_blocks(
      piece, values.size(),
      [&](std::size_t done, std::size_t blocks, std::size_t first) {
        const float* from = values.data() + done;
        std::byte* to = codes + done * kCodeBytes<Element>;
        if (powers_of_two)
          quantize_blocks<Element, true>(from, blocks, block, piece.scales + first, to);
        else
          quantize_blocks<Element, false>(from, blocks, block, piece.scales + first, to);
      },
      [&](const Piece& part, std::size_t done, std::size_t length) {
        quantize_runs<Element>(part, values.subspan(done, length), bounds,
                               codes + done * kCodeBytes<Element>, none);
      });
}

// `counts` may be null, and must be if the elements are not counted at once.
template <class Element>
void quantize_codes(const Piece& piece, std::span<const float> values,
                    const RegisterBounds<Element>* bounds, std::byte* codes,
                    QuantizeCounts* counts) {
  if constexpr (Element::kInteger || kSmall<Element>) {
    if (counts != nullptr) return quantize_runs<Element>(piece, values, bounds, codes, *counts);
  }
  quantize_codes<Element>(piece, values, bounds, codes);
}

template <class Element>
void quantize_nearest(const Piece& piece, std::span<const float> values, std::byte* payload,
                      QuantizeCounts* counts) {
  RegisterBounds<Element> bounds;
  const RegisterBounds<Element>* known = nullptr;
  if constexpr (Element::kInteger) {
    if (is_strided(piece.format) && bounds_pay_off(piece.format, values.size())) {
      bounds.compute(piece.scales, piece.format.columns);
      known = &bounds;
    }
  }
  if constexpr (!kPacked<Element>) {
    quantize_codes<Element>(piece, values, known, payload, counts);
  } else {
    const std::size_t bytes = payload_bytes(piece.format, values.size());
    in_chunks(piece, values.size(), kPackedChunk,
              [&](const Piece& part, std::size_t done, std::size_t length) {
                CodeChunk codes;
                quantize_codes<Element>(part, values.subspan(done, length), known, codes.data(),
                                        counts);
                const std::size_t at = done * kBits<Element> / CHAR_BIT;
                pack<Element>(codes.data(), length, payload + at, bytes - at);
              });
  }
}

void Quantize(const Piece& piece, std::span<const float> values, std::byte* payload) {
  with_element(piece.format.element, [&](auto element) {
    using Element = decltype(element);
    if constexpr (Stochastic<Element>) {
      if (piece.format.rounding == Rounding::stochastic)
        return quantize_randomly<Element>(piece, values, payload);
    }
    quantize_nearest<Element>(piece, values, payload, nullptr);
  });
}

// Returns false, without effect, for values that are not counted at once.
bool QuantizeAtOnce(const Piece& piece, std::span<const float> values, std::byte* payload,
                    QuantizeCounts& counts) {
  bool at_once = false;
  with_element(piece.format.element, [&](auto element) {
    using Element = decltype(element);
    if (piece.format.rounding != Rounding::nearest) return;
    at_once = counts_at_once<Element>(piece.format, values.size());
    if (at_once) quantize_nearest<Element>(piece, values, payload, &counts);
  });
  return at_once;
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace equarx::numerics::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace equarx::numerics::kernels {

namespace {
HWY_EXPORT(Quantize);
HWY_EXPORT(QuantizeAtOnce);
}  // namespace

void quantize(const Piece& piece, std::span<const float> values, std::byte* payload) {
  HWY_DYNAMIC_DISPATCH(Quantize)(piece, values, payload);
}

QuantizeCounts quantize_and_count(const Piece& piece, std::span<const float> values,
                                  std::byte* payload) {
  QuantizeCounts counts{.elements = values.size()};
  if (HWY_DYNAMIC_DISPATCH(QuantizeAtOnce)(piece, values, payload, counts)) return counts;
  quantize(piece, values, payload);
  return count(piece, values);
}

}  // namespace equarx::numerics::kernels
#endif
