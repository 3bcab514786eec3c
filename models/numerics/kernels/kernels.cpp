#include "models/numerics/kernels/kernels.hpp"

#include <array>
#include <climits>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <type_traits>

#include "models/numerics/elements/bfloat16.hpp"
#include "models/numerics/elements/element_codecs.hpp"

// foreach_target.h re-includes this file once per instruction set. The -inl headers follow it, so
// that they are compiled for each instruction set too.
// clang-format off
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "models/numerics/kernels/kernels.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
#include "models/numerics/kernels/amax-inl.hpp"
#include "models/numerics/kernels/bf16-inl.hpp"
#include "models/numerics/kernels/blocks-inl.hpp"
#include "models/numerics/kernels/counts-inl.hpp"
#include "models/numerics/kernels/integers-inl.hpp"
#include "models/numerics/kernels/packing-inl.hpp"
#include "models/numerics/kernels/runs-inl.hpp"
#include "models/numerics/kernels/scales-inl.hpp"
#include "models/numerics/kernels/stochastic-inl.hpp"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace equarx::numerics::kernels {
namespace HWY_NAMESPACE {
namespace {

// Scales do not exist yet; the Scales type only selects the grouping of elements.
void FindAmax(const Piece& piece, std::span<const float> values, float* amax) {
  if (!piece.format.scaled) return;
  if (piece.format.layout == ScaleLayout::strided)
    raise_groups<LaneScales>(piece, values, amax);
  else
    raise_groups<SharedScale>(piece, values, amax);
}

void EncodeScales(const BlockFormat& format, std::span<const float> amax, float elsewhere,
                  std::byte* bytes) {
  ScaledElements elements = scaled_elements(format);
  if (format.tensor_scale) {
    const float scale =
        tensor_scale_for(std::max(largest_finite(amax), elsewhere), elements.largest);
    std::memcpy(bytes, &scale, kTensorScaleBytes);
    bytes += kTensorScaleBytes;
    elements.largest *= scale;
  }
  with_scales(format.scale,
              [&](auto scales) { encode_all_scales<decltype(scales)>(amax, elements, bytes); });
}

void DecodeScales(const BlockFormat& format, const std::byte* bytes, std::span<float> scales) {
  const std::byte* first = bytes + (format.tensor_scale ? kTensorScaleBytes : 0);
  with_scales(format.scale, [&](auto kind) { decode_all_scales<decltype(kind)>(first, scales); });
  if (!format.tensor_scale) return;
  float unit = 0.0F;
  std::memcpy(&unit, bytes, kTensorScaleBytes);
  for (float& scale : scales) scale *= unit;
}

// Packed formats are unpacked to one code per byte in chunks of this size: whole registers, for
// add_registers(), that fit in the L1 cache.
constexpr std::size_t kPackedChunk = 4 * kRegisterElements;
using CodeChunk = std::array<std::byte, kPackedChunk>;

bool is_strided(const BlockFormat& format) {
  return format.scaled && format.layout == ScaleLayout::strided;
}

// `bounds`: bounds of strided scales; null for other layouts, or if computing them does not pay
// off.
template <class Element>
void quantize_runs(const Piece& piece, std::span<const float> values,
                   const RegisterBounds<Element>* bounds, std::byte* codes) {
  visit_scales(piece, values.size(),
               [&](std::size_t done, std::size_t length, std::size_t group, auto scales) {
                 using Scales = decltype(scales);
                 const float* from = values.data() + done;
                 std::byte* to = codes + done * kCodeBytes<Element>;
                 if constexpr (Element::kInteger && std::is_same_v<Scales, SharedScale>)
                   return quantize_block<Element>(from, length, scales, to);
                 if constexpr (Element::kInteger && std::is_same_v<Scales, LaneScales>) {
                   if (bounds != nullptr)
                     return quantize_by_bounds<Element>(from, length, scales, bounds->from(group),
                                                        to);
                 }
                 quantize_run<Element>(from, length, scales, to);
               });
}

template <class Element>
void quantize_codes(const Piece& piece, std::span<const float> values,
                    const RegisterBounds<Element>* bounds, std::byte* codes) {
  const bool powers_of_two = piece.format.scale == ScaleFormat::e8m0;
  // For integers whose scales are not powers of two, bounds are faster.
  if (Element::kInteger && !powers_of_two)
    return quantize_runs<Element>(piece, values, bounds, codes);
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
                               codes + done * kCodeBytes<Element>);
      });
}

template <class Element>
void quantize_nearest(const Piece& piece, std::span<const float> values, std::byte* payload) {
  RegisterBounds<Element> bounds;
  const RegisterBounds<Element>* known = nullptr;
  if constexpr (Element::kInteger) {
    if (is_strided(piece.format) && bounds_pay_off(piece.format, values.size())) {
      bounds.compute(piece.scales, piece.format.columns);
      known = &bounds;
    }
  }
  if constexpr (!kPacked<Element>) {
    quantize_codes<Element>(piece, values, known, payload);
  } else {
    const std::size_t bytes = payload_bytes(piece.format, values.size());
    in_chunks(piece, values.size(), kPackedChunk,
              [&](const Piece& part, std::size_t done, std::size_t length) {
                CodeChunk codes;
                quantize_codes<Element>(part, values.subspan(done, length), known, codes.data());
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
    quantize_nearest<Element>(piece, values, payload);
  });
}

// Calls act(piece, offset, length, codes) with the codes of a payload, each in one or more whole
// bytes.
template <class Element, class Act>
HWY_INLINE void with_codes(const Piece& piece, const std::byte* payload, std::size_t count,
                           Act act) {
  if constexpr (!kPacked<Element>) {
    act(piece, std::size_t{0}, count, payload);
  } else {
    const std::size_t bytes = payload_bytes(piece.format, count);
    in_chunks(piece, count, kPackedChunk,
              [&](const Piece& part, std::size_t done, std::size_t length) {
                CodeChunk codes;
                const std::size_t at = done * kBits<Element> / CHAR_BIT;
                unpack<Element>(payload + at, bytes - at, length, codes.data());
                act(part, done, length, codes.data());
              });
  }
}

template <class Element>
void dequantize_codes(const Piece& piece, const std::byte* codes, std::span<float> values) {
  split_blocks(
      piece, values.size(),
      [&](std::size_t done, std::size_t blocks, std::size_t first) {
        dequantize_blocks<Element>(codes + done * kCodeBytes<Element>, blocks, piece.format.block,
                                   piece.scales + first, values.data() + done);
      },
      [&](const Piece& part, std::size_t before, std::size_t count) {
        visit_scales(part, count,
                     [&](std::size_t more, std::size_t length, std::size_t, auto scales) {
                       const std::size_t done = before + more;
                       dequantize_run<Element>(codes + done * kCodeBytes<Element>, length, scales,
                                               values.data() + done);
                     });
      });
}

void Dequantize(const Piece& piece, const std::byte* payload, std::span<float> values) {
  with_element(piece.format.element, [&](auto element) {
    using Element = decltype(element);
    with_codes<Element>(
        piece, payload, values.size(),
        [&](const Piece& part, std::size_t done, std::size_t length, const std::byte* codes) {
          dequantize_codes<Element>(part, codes, values.subspan(done, length));
        });
  });
}

// Adds whole groups of kRegisters registers, starting at element `from`. Returns the end of the
// last.
template <class Element, std::size_t kRegisters>
HWY_INLINE std::size_t add_all_registers(const Piece& piece, const std::byte* codes,
                                         const float* local, std::span<float> sums,
                                         std::size_t from, float* amax) {
  const std::size_t columns = piece.format.columns;
  const std::size_t group = kRegisters * columns;
  std::size_t at = from;
  for (; at + group <= sums.size(); at += group)
    add_registers<Element, kRegisters>(codes + at * kCodeBytes<Element>, columns, piece.scales,
                                       local + at, sums.data() + at, amax);
  return at;
}

template <class Element, bool kFindsAmax>
void add_runs(const Piece& piece, const std::byte* codes, const float* local, std::span<float> sums,
              float* amax) {
  std::size_t grouped = 0;
  if (kFindsAmax && is_strided(piece.format) && piece.first % piece.format.columns == 0) {
    grouped = add_all_registers<Element, 4>(piece, codes, local, sums, 0, amax);
    grouped = add_all_registers<Element, 2>(piece, codes, local, sums, grouped, amax);
  }
  Piece rest = piece;
  rest.first += grouped;
  visit_scales(rest, sums.size() - grouped,
               [&](std::size_t more, std::size_t length, std::size_t group, auto scales) {
                 using Maximum =
                     std::conditional_t<kFindsAmax, MaximumOf<decltype(scales)>, NoMaximum>;
                 const std::size_t at = grouped + more;
                 add_run<Element>(codes + at * kCodeBytes<Element>, length, scales, local + at,
                                  sums.data() + at, Maximum(amax, group));
               });
}

template <class Element, bool kFindsAmax>
void add_codes(const Piece& piece, const std::byte* codes, const float* local,
               std::span<float> sums, float* amax) {
  split_blocks(
      piece, sums.size(),
      [&](std::size_t done, std::size_t blocks, std::size_t first) {
        add_blocks<Element>({codes + done * kCodeBytes<Element>, piece.format.block,
                             piece.scales + first, local + done, sums.data() + done},
                            blocks, kFindsAmax ? amax + first : nullptr);
      },
      [&](const Piece& part, std::size_t done, std::size_t length) {
        add_runs<Element, kFindsAmax>(part, codes + done * kCodeBytes<Element>, local + done,
                                      sums.subspan(done, length), amax);
      });
}

void DequantizeAdd(const Piece& piece, const std::byte* payload, const float* local,
                   std::span<float> sums, float* amax) {
  with_element(piece.format.element, [&](auto element) {
    using Element = decltype(element);
    with_codes<Element>(
        piece, payload, sums.size(),
        [&](const Piece& part, std::size_t done, std::size_t length, const std::byte* codes) {
          const std::span<float> here = sums.subspan(done, length);
          if (amax == nullptr)
            add_codes<Element, false>(part, codes, local + done, here, amax);
          else
            add_codes<Element, true>(part, codes, local + done, here, amax);
        });
  });
}

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

void EncodeBf16(std::span<const float> values, std::uint16_t* codes) {
  std::size_t i = 0;
#if HWY_TARGET != HWY_SCALAR
  for (; i + 2 * lanes() <= values.size(); i += 2 * lanes())
    encode_bf16_pair(values.data() + i, codes + i);
#endif
  for (; i < values.size(); ++i) codes[i] = bf16_from_float(values[i]);
}

void DecodeBf16(const std::uint16_t* codes, std::span<float> values) {
  std::size_t i = 0;
  for (; i + lanes() <= values.size(); i += lanes())
    store(floats_of(hn::PromoteTo(Words(), hn::LoadU(Halves(), codes + i))), values.data() + i);
  for (; i < values.size(); ++i) values[i] = float_from_bf16(codes[i]);
}

void RoundToBf16(std::span<float> values) {
  std::size_t i = 0;
  for (; i + lanes() <= values.size(); i += lanes())
    store(rounded_floats(load(values.data() + i)), values.data() + i);
  for (; i < values.size(); ++i) values[i] = float_from_bf16(bf16_from_float(values[i]));
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace equarx::numerics::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace equarx::numerics::kernels {

namespace {
HWY_EXPORT(FindAmax);
HWY_EXPORT(EncodeScales);
HWY_EXPORT(DecodeScales);
HWY_EXPORT(Quantize);
HWY_EXPORT(Dequantize);
HWY_EXPORT(DequantizeAdd);
HWY_EXPORT(Count);
HWY_EXPORT(EncodeBf16);
HWY_EXPORT(DecodeBf16);
HWY_EXPORT(RoundToBf16);
}  // namespace

void find_amax(const Piece& piece, std::span<const float> values, float* amax) {
  HWY_DYNAMIC_DISPATCH(FindAmax)(piece, values, amax);
}

void encode_scales(const BlockFormat& format, std::span<const float> amax, float elsewhere,
                   std::byte* bytes) {
  HWY_DYNAMIC_DISPATCH(EncodeScales)(format, amax, elsewhere, bytes);
}

void decode_scales(const BlockFormat& format, const std::byte* bytes, std::span<float> scales) {
  HWY_DYNAMIC_DISPATCH(DecodeScales)(format, bytes, scales);
}

void quantize(const Piece& piece, std::span<const float> values, std::byte* payload) {
  HWY_DYNAMIC_DISPATCH(Quantize)(piece, values, payload);
}

void dequantize(const Piece& piece, const std::byte* payload, std::span<float> values) {
  HWY_DYNAMIC_DISPATCH(Dequantize)(piece, payload, values);
}

void dequantize_add(const Piece& piece, const std::byte* payload, const float* local,
                    std::span<float> sums, float* amax) {
  HWY_DYNAMIC_DISPATCH(DequantizeAdd)(piece, payload, local, sums, amax);
}

QuantizeCounts count(const Piece& piece, std::span<const float> values) {
  return HWY_DYNAMIC_DISPATCH(Count)(piece, values);
}

void encode_bf16(std::span<const float> values, std::uint16_t* codes) {
  HWY_DYNAMIC_DISPATCH(EncodeBf16)(values, codes);
}

void decode_bf16(const std::uint16_t* codes, std::span<float> values) {
  HWY_DYNAMIC_DISPATCH(DecodeBf16)(codes, values);
}

void round_to_bf16(std::span<float> values) { HWY_DYNAMIC_DISPATCH(RoundToBf16)(values); }

}  // namespace equarx::numerics::kernels
#endif
