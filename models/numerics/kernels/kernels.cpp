#include "models/numerics/kernels/kernels.hpp"

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "models/numerics/elements/bfloat16.hpp"
#include "models/numerics/elements/element_codecs.hpp"

// This file is compiled once for each instruction set, by including itself. What it includes comes
// after, so that it is compiled as often.
// clang-format off
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "models/numerics/kernels/kernels.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
#include "models/numerics/kernels/absmax-inl.hpp"
#include "models/numerics/kernels/bf16-inl.hpp"
#include "models/numerics/kernels/counts-inl.hpp"
#include "models/numerics/kernels/floats-inl.hpp"
#include "models/numerics/kernels/integers-inl.hpp"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace equarx::numerics::kernels {
namespace HWY_NAMESPACE {
namespace {

// Scales are what is looked for: there are none yet, only the way in which elements share them.
void FindAbsmax(const Piece& piece, std::span<const float> values, float* absmax) {
  if (!piece.format.scaled) return;
  if (piece.format.layout == ScaleLayout::strided)
    raise_groups<LaneScales>(piece, values, absmax);
  else
    raise_groups<SharedScale>(piece, values, absmax);
}

void Quantize(const Piece& piece, std::span<const float> values, std::byte* codes) {
  with_element(piece.format.element, [&](auto element) {
    using Element = decltype(element);
    if constexpr (Stochastic<Element>) {
      if (piece.format.rounding == Rounding::stochastic)
        return quantize_randomly<Element>(piece, values, codes);
    }
    if constexpr (Element::kInteger) {
      quantize_all_integers<Element>(piece, values, reinterpret_cast<std::int8_t*>(codes));
    } else {
      in_chunks(piece, values.size(), [&](const Piece& part, std::size_t done, std::size_t length) {
        Chunk ratios;
        divide(part, values.data() + done, length, ratios.data());
        encode_all<Element>(ratios.data(), length, codes + done * sizeof(typename Element::Code));
      });
    }
  });
}

void Dequantize(const Piece& piece, const std::byte* codes, std::span<float> values) {
  with_element(piece.format.element, [&](auto element) {
    using Element = decltype(element);
    if constexpr (Element::kInteger) {
      const auto* integers = reinterpret_cast<const std::int8_t*>(codes);
      visit_scales(piece, values.size(),
                   [&](std::size_t done, std::size_t length, std::size_t, auto scales) {
                     dequantize_integers<Element>(integers + done, length, scales,
                                                  values.data() + done);
                   });
    } else {
      in_chunks(piece, values.size(), [&](const Piece& part, std::size_t done, std::size_t length) {
        decode_all<Element>(codes + done * sizeof(typename Element::Code), length,
                            values.data() + done);
        multiply(part, length, values.data() + done);
      });
    }
  });
}

// How many of `count` elements add_two_registers is for: all in front of the last, odd register.
HWY_INLINE std::size_t in_register_pairs(const Piece& piece, std::size_t count) {
  const bool strided = piece.format.scaled && piece.format.layout == ScaleLayout::strided;
  const bool aligned = piece.first % kRegisterElements == 0;
  return strided && aligned ? count / (2 * kRegisterElements) * (2 * kRegisterElements) : 0;
}

template <bool kFindsAbsmax>
void dequantize_add_in(const Piece& piece, const std::byte* codes, const float* local,
                       std::span<float> sums, float* absmax) {
  with_element(piece.format.element, [&](auto element) {
    using Element = decltype(element);
    if constexpr (Element::kInteger) {
      const auto* integers = reinterpret_cast<const std::int8_t*>(codes);
      const std::size_t paired = kFindsAbsmax ? in_register_pairs(piece, sums.size()) : 0;
      for (std::size_t at = 0; at < paired; at += 2 * kRegisterElements)
        add_two_registers<Element>(integers + at, piece.scales, local + at, sums.data() + at,
                                   absmax);
      Piece rest = piece;
      rest.first += paired;
      visit_scales(rest, sums.size() - paired,
                   [&](std::size_t more, std::size_t length, std::size_t group, auto scales) {
                     using Maximum =
                         std::conditional_t<kFindsAbsmax, MaximumOf<decltype(scales)>, NoMaximum>;
                     const std::size_t at = paired + more;
                     add_integers<Element>(integers + at, length, scales, local + at,
                                           sums.data() + at, Maximum(absmax, group));
                   });
    } else {
      in_chunks(piece, sums.size(), [&](const Piece& part, std::size_t done, std::size_t length) {
        Chunk decoded;
        decode_all<Element>(codes + done * sizeof(typename Element::Code), length, decoded.data());
        multiply(part, length, decoded.data());
        add(local + done, decoded.data(), length, sums.data() + done);
        if constexpr (kFindsAbsmax) FindAbsmax(part, sums.subspan(done, length), absmax);
      });
    }
  });
}

void DequantizeAdd(const Piece& piece, const std::byte* codes, const float* local,
                   std::span<float> sums, float* absmax) {
  if (absmax == nullptr) {
    dequantize_add_in<false>(piece, codes, local, sums, absmax);
  } else {
    dequantize_add_in<true>(piece, codes, local, sums, absmax);
  }
}

QuantizeCounts Count(const Piece& piece, std::span<const float> values) {
  QuantizeCounts counts;
  with_element(piece.format.element, [&](auto element) {
    using Element = decltype(element);
    if constexpr (Stochastic<Element>) {
      if (piece.format.rounding == Rounding::stochastic) {
        counts = count_random<Element>(piece, values);
        return;
      }
    }
    visit_scales(piece, values.size(),
                 [&](std::size_t done, std::size_t length, std::size_t, auto scales) {
                   count_run<Element>(values.data() + done, length, scales, counts);
                 });
  });
  counts.elements = values.size();
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
HWY_EXPORT(FindAbsmax);
HWY_EXPORT(Quantize);
HWY_EXPORT(Dequantize);
HWY_EXPORT(DequantizeAdd);
HWY_EXPORT(Count);
HWY_EXPORT(EncodeBf16);
HWY_EXPORT(DecodeBf16);
HWY_EXPORT(RoundToBf16);
}  // namespace

void find_absmax(const Piece& piece, std::span<const float> values, float* absmax) {
  HWY_DYNAMIC_DISPATCH(FindAbsmax)(piece, values, absmax);
}

void quantize(const Piece& piece, std::span<const float> values, std::byte* codes) {
  HWY_DYNAMIC_DISPATCH(Quantize)(piece, values, codes);
}

void dequantize(const Piece& piece, const std::byte* codes, std::span<float> values) {
  HWY_DYNAMIC_DISPATCH(Dequantize)(piece, codes, values);
}

void dequantize_add(const Piece& piece, const std::byte* codes, const float* local,
                    std::span<float> sums, float* absmax) {
  HWY_DYNAMIC_DISPATCH(DequantizeAdd)(piece, codes, local, sums, absmax);
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
