#include "models/numerics/kernels/kernels.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

#include "models/numerics/elements/bfloat16.hpp"
#include "models/numerics/elements/element_codecs.hpp"

// This file is compiled once for each instruction set, by including itself.
// clang-format off
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "models/numerics/kernels/kernels.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace equarx::numerics::kernels {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

using Floats = hn::ScalableTag<float>;
using Ints = hn::RebindToSigned<Floats>;
using Words = hn::RebindToUnsigned<Floats>;
using SignedBytes = hn::Rebind<std::int8_t, Floats>;
using UnsignedBytes = hn::Rebind<std::uint8_t, Floats>;
using Halves = hn::Rebind<std::uint16_t, Floats>;
using Vector = hn::Vec<Floats>;

constexpr std::int32_t kMagnitudeMask = 0x7fffffff;
// At 1.5 x 2^23 the last mantissa bit is worth 1: adding it rounds to nearest even.
constexpr float kAligned = 0x1.8p23F;
// Elements that formats without kernels of their own handle at once: intermediate values of this many
// stay in the first-level cache.
constexpr std::size_t kChunk = 512;
using Chunk = std::array<float, kChunk>;

HWY_INLINE Vector load(const float* from) { return hn::LoadU(Floats(), from); }
HWY_INLINE void store(Vector vector, float* to) { hn::StoreU(vector, Floats(), to); }
HWY_INLINE std::size_t lanes() { return hn::Lanes(Floats()); }

// Where the scale of the i-th element of a run comes from. A run is as long as one of these holds.
struct LaneScales {  // strided: neighbours have neighbouring scales
  const float* scales;
  HWY_INLINE float one(std::size_t i) const { return scales[i]; }
  HWY_INLINE Vector many(std::size_t i) const { return load(scales + i); }
  HWY_INLINE LaneScales from(std::size_t i) const { return {scales + i}; }
};
struct SharedScale {  // contiguous: the whole run has one scale
  float scale;
  HWY_INLINE float one(std::size_t) const { return scale; }
  HWY_INLINE Vector many(std::size_t) const { return hn::Set(Floats(), scale); }
  HWY_INLINE SharedScale from(std::size_t) const { return *this; }
};
struct NoScale {};

template <class Scales>
HWY_INLINE float quotient(float value, const Scales& scales, std::size_t i) {
  const float ratio = value / scales.one(i);
  return ratio == ratio ? ratio : 0.0F;
}
HWY_INLINE float quotient(float value, NoScale, std::size_t) { return value; }

template <class Scales>
HWY_INLINE Vector quotients(Vector values, const Scales& scales, std::size_t i) {
  const Vector ratios = hn::Div(values, scales.many(i));
  return hn::IfThenElseZero(hn::Eq(ratios, ratios), ratios);
}
HWY_INLINE Vector quotients(Vector values, NoScale, std::size_t) { return values; }

template <class Scales>
HWY_INLINE float product(float value, const Scales& scales, std::size_t i) {
  return value * scales.one(i);
}
HWY_INLINE float product(float value, NoScale, std::size_t) { return value; }

template <class Scales>
HWY_INLINE Vector products(Vector values, const Scales& scales, std::size_t i) {
  return hn::Mul(values, scales.many(i));
}
HWY_INLINE Vector products(Vector values, NoScale, std::size_t) { return values; }

// Calls visit(offset, length, group) for each run of elements that stays inside one register
// (strided; group is that of its first element) or one block (contiguous).
template <class Visit>
HWY_INLINE void visit_groups(const Piece& piece, std::size_t count, Visit visit) {
  const bool strided = piece.format.layout == ScaleLayout::strided;
  const std::size_t period = strided ? kRegisterElements : piece.format.block;
  std::size_t place = piece.first % period;
  std::size_t block = piece.first / period;
  for (std::size_t done = 0; done < count; place = 0, ++block) {
    const std::size_t length = std::min(period - place, count - done);
    visit(done, length, strided ? place : block);
    done += length;
  }
}

// As visit_groups, but gives visit(offset, length, group, scales) the scales themselves.
template <class Visit>
HWY_INLINE void visit_scales(const Piece& piece, std::size_t count, Visit visit) {
  if (!piece.format.scaled) {
    visit(std::size_t{0}, count, std::size_t{0}, NoScale{});
  } else if (piece.format.layout == ScaleLayout::strided) {
    visit_groups(piece, count, [&](std::size_t done, std::size_t length, std::size_t lane) {
      visit(done, length, lane, LaneScales{piece.scales + lane});
    });
  } else {
    visit_groups(piece, count, [&](std::size_t done, std::size_t length, std::size_t block) {
      visit(done, length, block, SharedScale{piece.scales[block]});
    });
  }
}

// Calls act(piece, offset, length) for pieces of at most kChunk elements.
template <class Act>
HWY_INLINE void in_chunks(const Piece& piece, std::size_t count, Act act) {
  Piece part = piece;
  for (std::size_t done = 0; done < count; done += kChunk) {
    part.first = piece.first + done;
    part.key.first_element = piece.key.first_element + done;
    act(part, done, std::min(kChunk, count - done));
  }
}

// Among floats without a sign, the order of their bits is the order of their values, and NaN is
// above Inf: an integer maximum is one that does not lose NaN.
HWY_INLINE std::int32_t magnitude_bits(float value) {
  return std::bit_cast<std::int32_t>(value) & kMagnitudeMask;
}
HWY_INLINE hn::Vec<Ints> magnitude_bits(Vector values) {
  return hn::And(hn::BitCast(Ints(), values), hn::Set(Ints(), kMagnitudeMask));
}

HWY_INLINE float larger(float absmax, float value) {
  return std::bit_cast<float>(std::max(magnitude_bits(absmax), magnitude_bits(value)));
}
HWY_INLINE Vector larger(Vector absmax, Vector values) {
  return hn::BitCast(Floats(), hn::Max(magnitude_bits(absmax), magnitude_bits(values)));
}

// The abs-max of a run: of each lane if strided, else of all.
class LaneMaxima {
 public:
  HWY_INLINE LaneMaxima(float* absmax, std::size_t lane) : absmax_(absmax + lane) {}
  HWY_INLINE void raise(Vector values, std::size_t i) {
    store(larger(load(absmax_ + i), values), absmax_ + i);
  }
  HWY_INLINE void raise(float value, std::size_t i) { absmax_[i] = larger(absmax_[i], value); }
  HWY_INLINE void finish() {}

 private:
  float* absmax_;
};
class SharedMaximum {
 public:
  HWY_INLINE SharedMaximum(float* absmax, std::size_t group)
      : absmax_(absmax + group), one_(*absmax_), many_(hn::Zero(Floats())) {}
  HWY_INLINE void raise(Vector values, std::size_t) { many_ = larger(many_, values); }
  HWY_INLINE void raise(float value, std::size_t) { one_ = larger(one_, value); }
  HWY_INLINE void finish() {
    const auto most = hn::MaxOfLanes(Ints(), magnitude_bits(many_));
    *absmax_ = larger(one_, std::bit_cast<float>(hn::GetLane(most)));
  }

 private:
  float* absmax_;
  float one_;
  Vector many_;
};
struct NoMaximum {
  HWY_INLINE NoMaximum(float*, std::size_t) {}
  template <class T>
  HWY_INLINE void raise(T, std::size_t) {}
  HWY_INLINE void finish() {}
};

// What keeps the abs-max of runs with these scales.
template <class Scales>
using MaximumOf = std::conditional_t<
    std::is_same_v<Scales, LaneScales>, LaneMaxima,
    std::conditional_t<std::is_same_v<Scales, SharedScale>, SharedMaximum, NoMaximum>>;

template <class Maximum>
HWY_INLINE void raise_run(const float* values, std::size_t count, Maximum maximum) {
  std::size_t i = 0;
  for (; i + lanes() <= count; i += lanes()) maximum.raise(load(values + i), i);
  for (; i < count; ++i) maximum.raise(values[i], i);
  maximum.finish();
}

template <class Scales>
HWY_INLINE void raise_groups(const Piece& piece, std::span<const float> values, float* absmax) {
  visit_groups(piece, values.size(), [&](std::size_t done, std::size_t length, std::size_t group) {
    raise_run(values.data() + done, length, MaximumOf<Scales>(absmax, group));
  });
}

// Scales are what is looked for: there are none yet, only the way in which elements share them.
void FindAbsmax(const Piece& piece, std::span<const float> values, float* absmax) {
  if (!piece.format.scaled) return;
  if (piece.format.layout == ScaleLayout::strided)
    raise_groups<LaneScales>(piece, values, absmax);
  else
    raise_groups<SharedScale>(piece, values, absmax);
}

// Integer codes, in kernels of their own: these are the formats that collectives are used with.

template <class Element>
HWY_INLINE hn::Vec<UnsignedBytes> encode_integers(Vector ratios) {
  if constexpr (Element::kCodesPerUnit != 1.0F)
    ratios = hn::Mul(ratios, hn::Set(Floats(), Element::kCodesPerUnit));
  constexpr float kLargest = Element::kLargestCode;
  const Vector clamped =
      hn::Clamp(ratios, hn::Set(Floats(), -kLargest), hn::Set(Floats(), kLargest));
  const Vector aligned = hn::Add(clamped, hn::Set(Floats(), kAligned));
  return hn::TruncateTo(UnsignedBytes(), hn::BitCast(Words(), aligned));
}

template <class Element>
HWY_INLINE Vector decode_integers(const std::int8_t* codes) {
  const auto integers = hn::PromoteTo(Ints(), hn::LoadU(SignedBytes(), codes));
  const Vector numbers = hn::ConvertTo(Floats(), integers);
  if constexpr (Element::kCodesPerUnit == 1.0F) return numbers;
  return hn::Mul(numbers, hn::Set(Floats(), 1.0F / Element::kCodesPerUnit));
}

template <class Element, class Scales>
HWY_INLINE void quantize_integers(const float* values, std::size_t count, Scales scales,
                                  std::int8_t* codes) {
  std::size_t i = 0;
  for (; i + lanes() <= count; i += lanes()) {
    Vector ratios = quotients(load(values + i), scales, i);
    if constexpr (std::is_same_v<Scales, NoScale>)
      ratios = hn::IfThenElseZero(hn::Eq(ratios, ratios), ratios);
    hn::StoreU(encode_integers<Element>(ratios), UnsignedBytes(),
               reinterpret_cast<std::uint8_t*>(codes) + i);
  }
  for (; i < count; ++i) codes[i] = Element::encode(quotient(values[i], scales, i));
}

// Division is the slowest part of quantization; two multiplications by bounds of 1 / scale replace it
// almost everywhere. With u = 2^-24, the IEEE quotient is within a factor 1 +- u of x / scale, and
// so is r = the rounded 1 / scale of 1 / scale. So low = r (1 - 4 u) and high = r (1 + 4 u), rounded,
// have x low and x high on either side of the quotient. All roundings that follow are monotonic:
// where both bounds come to the same code, the quotient does too. Elsewhere, in a few vectors of ten
// thousand, one divides.
constexpr float kFourUlps = 0x1p-22F;

// Scales whose bounds are neither subnormal nor infinite, also times codes per unit.
constexpr float kSmallestInverted = 0x1p-100F;
constexpr float kLargestInverted = 0x1p100F;

// The bounds, times codes per unit. NaN, which leads to division, for other scales.
template <class Element>
HWY_INLINE Vector bounds(Vector scales, float factor) {
  const auto normal = hn::And(hn::Ge(scales, hn::Set(Floats(), kSmallestInverted)),
                              hn::Le(scales, hn::Set(Floats(), kLargestInverted)));
  const Vector reciprocals = hn::Div(hn::Set(Floats(), 1.0F), scales);
  const Vector moved = hn::Mul(reciprocals, hn::Set(Floats(), factor));
  return hn::IfThenElse(normal, hn::Mul(moved, hn::Set(Floats(), Element::kCodesPerUnit)),
                        hn::NaN(Floats()));
}

struct LaneBounds {
  const float* low;
  const float* high;
  HWY_INLINE Vector lower(std::size_t i) const { return load(low + i); }
  HWY_INLINE Vector upper(std::size_t i) const { return load(high + i); }
};
struct SharedBounds {
  Vector low;
  Vector high;
  HWY_INLINE Vector lower(std::size_t) const { return low; }
  HWY_INLINE Vector upper(std::size_t) const { return high; }
};

template <class Element, class Scales, class Bounds>
HWY_INLINE void quantize_by_bounds(const float* values, std::size_t count, Scales scales,
                                   Bounds bounds, std::int8_t* codes) {
  const Vector aligned = hn::Set(Floats(), kAligned);
  const Vector least = hn::Set(Floats(), kAligned - Element::kLargestCode);
  const Vector most = hn::Set(Floats(), kAligned + Element::kLargestCode);
  const auto upper = [&](std::size_t i) HWY_ATTR {
    return hn::MulAdd(load(values + i), bounds.upper(i), aligned);
  };
  const auto lower = [&](std::size_t i) HWY_ATTR {
    return hn::MulAdd(load(values + i), bounds.lower(i), aligned);
  };
  const auto put = [&](Vector shifted, std::size_t i) HWY_ATTR {
    const auto bits = hn::BitCast(Words(), hn::Min(hn::Max(shifted, least), most));
    hn::StoreU(hn::TruncateTo(UnsignedBytes(), bits), UnsignedBytes(),
               reinterpret_cast<std::uint8_t*>(codes) + i);
  };
  const std::size_t step = 2 * lanes();
  std::size_t i = 0;
  for (; i + step <= count; i += step) {
    const Vector one = upper(i);
    const Vector other = upper(i + lanes());
    const auto sure = hn::And(hn::Eq(one, lower(i)), hn::Eq(other, lower(i + lanes())));
    if (HWY_LIKELY(hn::AllTrue(Floats(), sure))) {
      put(one, i);
      put(other, i + lanes());
    } else {
      quantize_integers<Element>(values + i, step, scales.from(i), codes + i);
    }
  }
  quantize_integers<Element>(values + i, count - i, scales.from(i), codes + i);
}

template <class Element>
HWY_INLINE void quantize_block(const float* values, std::size_t count, SharedScale scale,
                               std::int8_t* codes) {
  const SharedBounds both{bounds<Element>(scale.many(0), 1.0F - kFourUlps),
                          bounds<Element>(scale.many(0), 1.0F + kFourUlps)};
  quantize_by_bounds<Element>(values, count, scale, both, codes);
}

// Strided: worth while from a few registers on, which share the bounds.
constexpr std::size_t kBoundsPayOff = 4 * kRegisterElements;

template <class Element>
void quantize_registers(const Piece& piece, std::span<const float> values, std::int8_t* codes) {
  std::array<float, kRegisterElements> low;
  std::array<float, kRegisterElements> high;
  for (std::size_t i = 0; i < kRegisterElements; i += lanes()) {
    store(bounds<Element>(load(piece.scales + i), 1.0F - kFourUlps), low.data() + i);
    store(bounds<Element>(load(piece.scales + i), 1.0F + kFourUlps), high.data() + i);
  }
  visit_groups(piece, values.size(), [&](std::size_t done, std::size_t length, std::size_t lane) {
    quantize_by_bounds<Element>(values.data() + done, length, LaneScales{piece.scales + lane},
                                LaneBounds{low.data() + lane, high.data() + lane}, codes + done);
  });
}

template <class Element>
void quantize_all_integers(const Piece& piece, std::span<const float> values, std::int8_t* codes) {
  const bool strided = piece.format.scaled && piece.format.layout == ScaleLayout::strided;
  if (strided && values.size() >= kBoundsPayOff)
    return quantize_registers<Element>(piece, values, codes);
  visit_scales(piece, values.size(),
               [&](std::size_t done, std::size_t length, std::size_t, auto scales) {
                 if constexpr (std::is_same_v<decltype(scales), SharedScale>) {
                   quantize_block<Element>(values.data() + done, length, scales, codes + done);
                 } else {
                   quantize_integers<Element>(values.data() + done, length, scales, codes + done);
                 }
               });
}

template <class Element, class Scales>
HWY_INLINE void dequantize_integers(const std::int8_t* codes, std::size_t count, Scales scales,
                                    float* values) {
  std::size_t i = 0;
  for (; i + lanes() <= count; i += lanes())
    store(products(decode_integers<Element>(codes + i), scales, i), values + i);
  for (; i < count; ++i) values[i] = product(Element::decode(codes[i]), scales, i);
}

template <class Element, class Scales, class Maximum>
HWY_INLINE void add_integers(const std::int8_t* codes, std::size_t count, Scales scales,
                             const float* local, float* sums, Maximum maximum) {
  std::size_t i = 0;
  for (; i + lanes() <= count; i += lanes()) {
    const Vector sum =
        hn::Add(load(local + i), products(decode_integers<Element>(codes + i), scales, i));
    store(sum, sums + i);
    maximum.raise(sum, i);
  }
  for (; i < count; ++i) {
    sums[i] = local[i] + product(Element::decode(codes[i]), scales, i);
    maximum.raise(sums[i], i);
  }
  maximum.finish();
}

// Two registers that follow each other share one load of their scales, and one load and store of
// their abs-max.
template <class Element>
HWY_INLINE void add_two_registers(const std::int8_t* codes, const float* scales, const float* local,
                                  float* sums, float* absmax) {
  for (std::size_t i = 0; i < kRegisterElements; i += lanes()) {
    const std::size_t j = i + kRegisterElements;
    const Vector scale = load(scales + i);
    const Vector one =
        hn::Add(load(local + i), hn::Mul(decode_integers<Element>(codes + i), scale));
    const Vector two =
        hn::Add(load(local + j), hn::Mul(decode_integers<Element>(codes + j), scale));
    store(one, sums + i);
    store(two, sums + j);
    store(larger(load(absmax + i), larger(one, two)), absmax + i);
  }
}

// The other formats, whose encoding and decoding are plain loops that the compiler vectorises.

void divide(const Piece& piece, const float* values, std::size_t count, float* ratios) {
  visit_scales(piece, count, [&](std::size_t done, std::size_t length, std::size_t, auto scales) {
    std::size_t i = 0;
    for (; i + lanes() <= length; i += lanes())
      store(quotients(load(values + done + i), scales, i), ratios + done + i);
    for (; i < length; ++i) ratios[done + i] = quotient(values[done + i], scales, i);
  });
}

void multiply(const Piece& piece, std::size_t count, float* values) {
  visit_scales(piece, count, [&](std::size_t done, std::size_t length, std::size_t, auto scales) {
    std::size_t i = 0;
    for (; i + lanes() <= length; i += lanes())
      store(products(load(values + done + i), scales, i), values + done + i);
    for (; i < length; ++i) values[done + i] = product(values[done + i], scales, i);
  });
}

template <class Element>
void encode_all(const float* ratios, std::size_t count, std::byte* codes) {
  for (std::size_t i = 0; i < count; ++i) {
    const typename Element::Code code = Element::encode(ratios[i]);
    std::memcpy(codes + i * sizeof(code), &code, sizeof(code));
  }
}

template <class Element>
concept Stochastic = requires {
  Element::encode_stochastic(0.0F, 0U);
};

void draw_words(const RoundingKey& key, std::size_t count, std::uint32_t* words) {
  std::uint64_t index = key.first_element / kElementsPerCounter;
  std::size_t skip = key.first_element % kElementsPerCounter;
  for (std::size_t done = 0; done < count; ++index, skip = 0) {
    const PhiloxCounter random = rounding_words(key, index);
    for (std::size_t w = skip; w < random.size() && done < count; ++w) words[done++] = random[w];
  }
}

template <Stochastic Element>
void encode_randomly(const RoundingKey& key, const float* ratios, std::size_t count,
                     typename Element::Code* codes) {
  std::array<std::uint32_t, kChunk> words;
  draw_words(key, count, words.data());
  for (std::size_t i = 0; i < count; ++i)
    codes[i] = Element::encode_stochastic(ratios[i], words[i]);
}

template <Stochastic Element>
void quantize_randomly(const Piece& piece, std::span<const float> values, std::byte* codes) {
  in_chunks(piece, values.size(), [&](const Piece& part, std::size_t done, std::size_t length) {
    Chunk ratios;
    divide(part, values.data() + done, length, ratios.data());
    encode_randomly<Element>(part.key, ratios.data(), length,
                             reinterpret_cast<typename Element::Code*>(codes + done));
  });
}

template <class Element>
void decode_all(const std::byte* codes, std::size_t count, float* values) {
  for (std::size_t i = 0; i < count; ++i) {
    typename Element::Code code;
    std::memcpy(&code, codes + i * sizeof(code), sizeof(code));
    values[i] = Element::decode(code);
  }
}

void add(const float* local, const float* others, std::size_t count, float* sums) {
  std::size_t i = 0;
  for (; i + lanes() <= count; i += lanes())
    store(hn::Add(load(local + i), load(others + i)), sums + i);
  for (; i < count; ++i) sums[i] = local[i] + others[i];
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

template <class Element>
HWY_INLINE void count_decoded(float value, float ratio, float decoded, bool plain,
                              QuantizeCounts& counts) {
  // Without a scale nothing else would tell that a format without NaN or Inf lost one.
  const bool lost = plain && !std::isfinite(value);
  counts.clipped += std::isfinite(ratio) && std::abs(ratio) >= Element::kClipThreshold;
  counts.flushed += value != 0.0F && decoded == 0.0F && !lost;
  counts.non_finite += lost || !std::isfinite(decoded);
}

template <class Element, class Scales>
HWY_INLINE void count_one(float value, const Scales& scales, std::size_t i,
                          QuantizeCounts& counts) {
  const float ratio = quotient(value, scales, i);
  const float decoded = product(Element::decode(Element::encode(ratio)), scales, i);
  count_decoded<Element>(value, ratio, decoded, std::is_same_v<Scales, NoScale>, counts);
}

// What the codes of these decode to, before the scale.
template <class Element>
HWY_INLINE Vector through_codes(Vector ratios) {
  if constexpr (Element::kInteger) {
    constexpr float kLargest = Element::kMaxFinite;
    const Vector numbers = hn::IfThenElseZero(hn::Eq(ratios, ratios), ratios);
    const Vector clamped =
        hn::Clamp(numbers, hn::Set(Floats(), -kLargest), hn::Set(Floats(), kLargest));
    const Vector aligned = hn::Set(Floats(), kAligned / Element::kCodesPerUnit);
    return hn::Sub(hn::Add(clamped, aligned), aligned);
  } else {
    HWY_ALIGN float numbers[hn::MaxLanes(Floats())];
    hn::Store(ratios, Floats(), numbers);
    for (float& number : numbers) number = Element::decode(Element::encode(number));
    return hn::Load(Floats(), numbers);
  }
}

// Counts of vectors, added up lane by lane: a mask is -1 where it holds.
struct LaneCounts {
  // Initializers of members would not be compiled for the instruction set.
  HWY_INLINE LaneCounts()
      : clipped(hn::Zero(Ints())), flushed(hn::Zero(Ints())), non_finite(hn::Zero(Ints())) {}
  hn::Vec<Ints> clipped;
  hn::Vec<Ints> flushed;
  hn::Vec<Ints> non_finite;
};

template <class Mask>
HWY_INLINE void add_mask(hn::Vec<Ints>& counts, Mask mask) {
  counts = hn::Sub(counts, hn::VecFromMask(Ints(), hn::RebindMask(Ints(), mask)));
}

HWY_INLINE std::uint64_t sum_of(hn::Vec<Ints> counts) {
  return static_cast<std::uint64_t>(hn::GetLane(hn::SumOfLanes(Ints(), counts)));
}

template <class Element, class Scales>
HWY_INLINE void count_many(Vector values, const Scales& scales, std::size_t i, LaneCounts& counts) {
  constexpr bool kPlain = std::is_same_v<Scales, NoScale>;
  const Vector zero = hn::Zero(Floats());
  const Vector most = hn::Set(Floats(), std::numeric_limits<float>::max());
  const Vector ratios = quotients(values, scales, i);
  const Vector sizes = hn::Abs(ratios);
  const Vector decoded = products(through_codes<Element>(ratios), scales, i);
  const auto clips = hn::Ge(sizes, hn::Set(Floats(), Element::kClipThreshold));
  add_mask(counts.clipped, hn::And(clips, hn::Le(sizes, most)));
  auto flushed = hn::And(hn::Ne(values, zero), hn::Eq(decoded, zero));
  auto finite = hn::Le(hn::Abs(decoded), most);
  if constexpr (kPlain) {
    const auto was_finite = hn::Le(hn::Abs(values), most);
    flushed = hn::And(flushed, was_finite);
    finite = hn::And(finite, was_finite);
  }
  add_mask(counts.flushed, flushed);
  add_mask(counts.non_finite, hn::Not(finite));
}

// Integers of a scale, where hardly ever anything but a flush is to be counted: false if there is.
template <class Element, class Scales>
HWY_INLINE bool count_flushed(Vector values, const Scales& scales, std::size_t i,
                              LaneCounts& counts) {
  const Vector zero = hn::Zero(Floats());
  const Vector aligned = hn::Set(Floats(), kAligned / Element::kCodesPerUnit);
  const Vector ratios = hn::Div(values, scales.many(i));
  const Vector decoded = products(hn::Sub(hn::Add(ratios, aligned), aligned), scales, i);
  const auto within = hn::Lt(hn::Abs(ratios), hn::Set(Floats(), Element::kClipThreshold));
  const auto finite =
      hn::Le(hn::Abs(decoded), hn::Set(Floats(), std::numeric_limits<float>::max()));
  if (HWY_UNLIKELY(!hn::AllTrue(Floats(), hn::And(within, finite)))) return false;
  add_mask(counts.flushed, hn::And(hn::Ne(values, zero), hn::Eq(decoded, zero)));
  return true;
}

template <class Element, class Scales>
HWY_INLINE void count_run(const float* values, std::size_t count, const Scales& scales,
                          QuantizeCounts& counts) {
  std::size_t i = 0;
  // Stops before lanes of 32 bits could overflow.
  constexpr std::size_t kMost = std::size_t{1} << 30;
  while (i + lanes() <= count) {
    LaneCounts many;
    const std::size_t end = std::min(count, i + kMost);
    for (; i + lanes() <= end; i += lanes()) {
      const Vector here = load(values + i);
      if constexpr (Element::kInteger && !std::is_same_v<Scales, NoScale>) {
        if (count_flushed<Element>(here, scales, i, many)) continue;
      }
      count_many<Element>(here, scales, i, many);
    }
    counts.clipped += sum_of(many.clipped);
    counts.flushed += sum_of(many.flushed);
    counts.non_finite += sum_of(many.non_finite);
  }
  for (; i < count; ++i) count_one<Element>(values[i], scales, i, counts);
}

template <Stochastic Element>
QuantizeCounts count_random(const Piece& piece, std::span<const float> values) {
  QuantizeCounts counts;
  in_chunks(piece, values.size(), [&](const Piece& part, std::size_t done, std::size_t length) {
    Chunk ratios;
    Chunk decoded;
    std::array<typename Element::Code, kChunk> codes;
    divide(part, values.data() + done, length, ratios.data());
    encode_randomly<Element>(part.key, ratios.data(), length, codes.data());
    decode_all<Element>(reinterpret_cast<const std::byte*>(codes.data()), length, decoded.data());
    multiply(part, length, decoded.data());
    for (std::size_t i = 0; i < length; ++i)
      count_decoded<Element>(values[done + i], ratios[i], decoded[i], !part.format.scaled, counts);
  });
  counts.elements = values.size();
  return counts;
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

// bfloat16, as bfloat16.hpp does it one by one.

// The rounded code is the upper half of each word; what is below is left over.
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
// Two vectors of values make one of codes. NaN are rare enough for a branch.
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
