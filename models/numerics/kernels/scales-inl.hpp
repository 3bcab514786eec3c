// Encoding and decoding of group scales by the rules in block_codec.hpp.
// Compiled once per instruction set: the include guard toggles with foreach_target.h.
#if defined(EQUARX_NUMERICS_KERNELS_SCALES_INL_HPP_) == defined(HWY_TARGET_TOGGLE)
#ifdef EQUARX_NUMERICS_KERNELS_SCALES_INL_HPP_
#undef EQUARX_NUMERICS_KERNELS_SCALES_INL_HPP_
#else
#define EQUARX_NUMERICS_KERNELS_SCALES_INL_HPP_
#endif

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <span>

#include <hwy/highway.h>

#include "models/formats/block_format.hpp"
#include "models/numerics/elements/element_codecs.hpp"
#include "models/numerics/kernels/codes-inl.hpp"
#include "models/numerics/kernels/lanes-inl.hpp"
#include "models/numerics/kernels/small_floats-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace equarx::numerics::kernels {
namespace HWY_NAMESPACE {
namespace {

constexpr float kLargestFloat = std::numeric_limits<float>::max();
constexpr std::int32_t kE8m0Nan = 0xff;
constexpr std::int32_t kE8m0Largest = 0xfe;
constexpr float kE8m0Smallest = 0x1p-127F;

// Elements as their scales depend on them.
struct ScaledElements {
  float largest;  // in units of the tensor scale if there is one
  // Added to the bits of a normal amax, it makes their exponent the code of an E8M0 scale.
  std::int32_t e8m0_offset;
};

// `largest`: largest value of an element, at least 1. `mantissa_bits`: of an element; for
// rounding to even only.
HWY_INLINE std::int32_t e8m0_offset(ScaleRounding rounding, float largest, int mantissa_bits) {
  constexpr std::int32_t kMantissa = (1 << kFloatMantissaBits) - 1;
  constexpr std::int32_t kOne = kFloatBias << kFloatMantissaBits;
  const std::int32_t bits = std::bit_cast<std::int32_t>(largest) - kOne;
  const std::int32_t exponent = bits & ~kMantissa;
  switch (rounding) {
    case ScaleRounding::floor: break;
    case ScaleRounding::up: return kMantissa - bits;  // carries if amax has the larger mantissa
    case ScaleRounding::even:                         // half a step of the element
      return (1 << (kFloatMantissaBits - 1 - mantissa_bits)) - exponent;
  }
  return -exponent;
}

// In units of the scale: without a tensor scale.
HWY_INLINE ScaledElements scaled_elements(const BlockFormat& format) {
  ScaledElements elements{};
  with_element(format.element, [&](auto element) {
    using Element = decltype(element);
    elements.largest = Element::kMaxFinite;
    int mantissa_bits = 0;
    if constexpr (requires { Element::kCodeMantissaBits; })
      mantissa_bits = Element::kCodeMantissaBits;
    elements.e8m0_offset = e8m0_offset(format.scale_rounding, elements.largest, mantissa_bits);
  });
  return elements;
}

HWY_INLINE Vector quiet_nan() { return hn::BitCast(Floats(), ints(kQuietNanBits)); }

HWY_INLINE Vector scale_for(Vector amax, float largest, float smallest) {
  const Vector quotient = hn::Div(amax, hn::Set(Floats(), largest));
  const Vector nonzero = hn::Max(quotient, hn::Set(Floats(), smallest));
  const Vector scale = hn::IfThenElseZero(hn::Gt(amax, hn::Zero(Floats())), nonzero);
  const auto finite = hn::Le(amax, hn::Set(Floats(), kLargestFloat));
  return hn::IfThenElse(finite, scale, quiet_nan());
}

// True where the largest code would decode to Inf because the scale was rounded up.
HWY_INLINE auto overflows(Vector scale, float largest) {
  return hn::Gt(hn::Mul(scale, hn::Set(Floats(), largest)), hn::Set(Floats(), kLargestFloat));
}

// Returns the largest finite amax; 0 if none is finite.
HWY_INLINE float largest_finite(std::span<const float> amax) {
  Vector most = hn::Zero(Floats());
  std::size_t i = 0;
  for (; i + lanes() <= amax.size(); i += lanes()) {
    const Vector here = load(amax.data() + i);
    const auto finite = hn::Le(here, hn::Set(Floats(), kLargestFloat));
    most = hn::Max(most, hn::IfThenElseZero(finite, here));
  }
  float largest = hn::GetLane(hn::MaxOfLanes(Floats(), most));
  for (; i < amax.size(); ++i)
    if (amax[i] <= kLargestFloat && amax[i] > largest) largest = amax[i];
  return largest;
}

// Returns the tensor scale, the unit of E4M3 scales. `amax` is the largest finite amax covered,
// `largest` the largest value of an element.
HWY_INLINE float tensor_scale_for(float amax, float largest) {
  constexpr float kSmallest = 0x1p-117F;
  const float quotient = amax / (largest * Fp8E4m3::kMaxFinite);
  const float scale = quotient > kSmallest ? quotient : kSmallest;
  if (Fp8E4m3::kMaxFinite * scale * largest <= kLargestFloat) return scale;
  return std::bit_cast<float>(std::bit_cast<std::int32_t>(scale) - 1);
}

// Encoders and decoders of a vector of scales, for `elements` that they scale.
struct Fp32Scales {
  using Element = Fp32Element;
  HWY_INLINE static void encode(Vector amax, const ScaledElements& elements, std::byte* to) {
    const Vector scale = scale_for(amax, elements.largest, std::numeric_limits<float>::min());
    const auto before = hn::Sub(hn::BitCast(Ints(), scale), ints(1));
    store(hn::IfThenElse(overflows(scale, elements.largest), hn::BitCast(Floats(), before), scale),
          reinterpret_cast<float*>(to));
  }
  HWY_INLINE static Vector decode(const std::byte* from) { return load_decoded<Element>(from); }
};

struct Bf16Scales {
  using Element = Bf16Element;
  HWY_INLINE static void encode(Vector amax, const ScaledElements& elements, std::byte* to) {
    const Vector scale = scale_for(amax, elements.largest, std::numeric_limits<float>::min());
    const auto code = encode_lanes<Element>(scale);
    const auto before = hn::Sub(code, hn::Set(Words(), 1));
    const auto steps_back = hn::RebindMask(Words(), overflows(floats_of(code), elements.largest));
    store_codes<Element>(hn::IfThenElse(steps_back, before, code), to);
  }
  HWY_INLINE static Vector decode(const std::byte* from) { return load_decoded<Element>(from); }
};

struct E4m3Scales {
  using Element = Fp8E4m3Element;
  HWY_INLINE static void encode(Vector amax, const ScaledElements& elements, std::byte* to) {
    store_encoded<Element>(scale_for(amax, elements.largest, Fp8E4m3::kDecoded[1]), to);
  }
  HWY_INLINE static Vector decode(const std::byte* from) { return load_decoded<Element>(from); }
};

// E8M0 has the exponent bias of FP32: the code is the exponent of the sum of the bits of amax and an
// offset. That is wrong for a subnormal amax above 2^-127, where only mxint8 has a scale above the
// smallest; a comparison of values therefore selects the smallest.
struct E8m0Scales {
  using Element = Fp8E4m3Element;  // same width
  HWY_INLINE static void encode(Vector amax, const ScaledElements& elements, std::byte* to) {
    const auto sum = hn::Add(hn::BitCast(Ints(), amax), ints(elements.e8m0_offset));
    const auto exponent = hn::ShiftRight<kFloatMantissaBits>(sum);
    const auto code = hn::Min(hn::Max(exponent, ints(0)), ints(kE8m0Largest));
    const auto above = hn::Gt(amax, hn::Set(Floats(), elements.largest * kE8m0Smallest));
    const auto finite = hn::Le(amax, hn::Set(Floats(), kLargestFloat));
    const auto number = hn::IfThenElseZero(hn::RebindMask(Ints(), above), code);
    const auto all = hn::IfThenElse(hn::RebindMask(Ints(), finite), number, ints(kE8m0Nan));
    store_codes<Element>(hn::BitCast(Words(), all), to);
  }
  HWY_INLINE static Vector decode(const std::byte* from) {
    const auto code = hn::BitCast(
        Ints(), hn::PromoteTo(Words(), hn::LoadU(UnsignedBytes(),
                                                 reinterpret_cast<const std::uint8_t*>(from))));
    const auto power = hn::BitCast(Floats(), hn::ShiftLeft<kFloatMantissaBits>(code));
    const auto smallest = hn::RebindMask(Floats(), hn::Eq(code, ints(0)));
    const auto nan = hn::RebindMask(Floats(), hn::Eq(code, ints(kE8m0Nan)));
    const Vector number = hn::IfThenElse(smallest, hn::Set(Floats(), kE8m0Smallest), power);
    return hn::IfThenElse(nan, quiet_nan(), number);
  }
};

// The remainder after whole vectors is padded with zeros to a vector.
template <class Scales>
void encode_all_scales(std::span<const float> amax, const ScaledElements& elements,
                       std::byte* bytes) {
  constexpr std::size_t kBytes = kCodeBytes<typename Scales::Element>;
  std::size_t i = 0;
  for (; i + lanes() <= amax.size(); i += lanes())
    Scales::encode(load(amax.data() + i), elements, bytes + i * kBytes);
  if (i == amax.size()) return;
  HWY_ALIGN float from[hn::MaxLanes(Floats())] = {};
  HWY_ALIGN std::byte to[hn::MaxLanes(Floats()) * kBytes];
  std::memcpy(from, amax.data() + i, (amax.size() - i) * sizeof(float));
  Scales::encode(load(from), elements, to);
  std::memcpy(bytes + i * kBytes, to, (amax.size() - i) * kBytes);
}

template <class Scales>
void decode_all_scales(const std::byte* bytes, std::span<float> scales) {
  constexpr std::size_t kBytes = kCodeBytes<typename Scales::Element>;
  std::size_t i = 0;
  for (; i + lanes() <= scales.size(); i += lanes())
    store(Scales::decode(bytes + i * kBytes), scales.data() + i);
  if (i == scales.size()) return;
  HWY_ALIGN std::byte from[hn::MaxLanes(Floats()) * kBytes] = {};
  HWY_ALIGN float to[hn::MaxLanes(Floats())];
  std::memcpy(from, bytes + i * kBytes, (scales.size() - i) * kBytes);
  store(Scales::decode(from), to);
  std::memcpy(scales.data() + i, to, (scales.size() - i) * sizeof(float));
}

template <class Act>
HWY_INLINE void with_scales(ScaleFormat format, Act act) {
  switch (format) {
    case ScaleFormat::fp32: return act(Fp32Scales{});
    case ScaleFormat::bf16: return act(Bf16Scales{});
    case ScaleFormat::e8m0: return act(E8m0Scales{});
    case ScaleFormat::e4m3: return act(E4m3Scales{});
    case ScaleFormat::fp16: break;  // see codec/quickreduce.hpp
  }
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace equarx::numerics::kernels
HWY_AFTER_NAMESPACE();

#endif
