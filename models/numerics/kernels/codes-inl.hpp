// Vectors of elements to and from codes of any format, each code in one or more whole bytes.
// Compiled once per instruction set: the include guard toggles with foreach_target.h.
#if defined(EQUARX_NUMERICS_KERNELS_CODES_INL_HPP_) == defined(HWY_TARGET_TOGGLE)
#ifdef EQUARX_NUMERICS_KERNELS_CODES_INL_HPP_
#undef EQUARX_NUMERICS_KERNELS_CODES_INL_HPP_
#else
#define EQUARX_NUMERICS_KERNELS_CODES_INL_HPP_
#endif

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include <hwy/highway.h>

#include "models/numerics/elements/element_codecs.hpp"
#include "models/numerics/kernels/bf16-inl.hpp"
#include "models/numerics/kernels/lanes-inl.hpp"
#include "models/numerics/kernels/small_floats-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace equarx::numerics::kernels {
namespace HWY_NAMESPACE {
namespace {

template <class Element>
constexpr bool kHalf = std::is_same_v<typename Element::Code, std::uint16_t>;
template <class Element>
constexpr std::size_t kCodeBytes = sizeof(typename Element::Code);

// Returns the integer in the lowest byte of each lane, in two's complement. Ratios must not be NaN.
template <class Element>
HWY_INLINE hn::Vec<Words> encode_integers(Vector ratios) {
  if constexpr (Element::kCodesPerUnit != 1.0F)
    ratios = hn::Mul(ratios, hn::Set(Floats(), Element::kCodesPerUnit));
  constexpr float kLargest = Element::kLargestCode;
  const Vector clamped =
      hn::Clamp(ratios, hn::Set(Floats(), -kLargest), hn::Set(Floats(), kLargest));
  return hn::BitCast(Words(), hn::Add(clamped, hn::Set(Floats(), kAligned)));
}

template <class Element>
HWY_INLINE Vector decode_integers(hn::Vec<SignedBytes> codes) {
  const Vector numbers = hn::ConvertTo(Floats(), hn::PromoteTo(Ints(), codes));
  if constexpr (Element::kCodesPerUnit == 1.0F) return numbers;
  return hn::Mul(numbers, hn::Set(Floats(), 1.0F / Element::kCodesPerUnit));
}

// Returns the code in the low bits of each lane; higher bits are garbage. For formats without NaN,
// ratios must not be NaN.
template <class Element, bool kMayBeNan = true>
HWY_INLINE hn::Vec<Words> encode_lanes(Vector ratios) {
  if constexpr (Element::kInteger) return encode_integers<Element>(ratios);
  if constexpr (std::is_same_v<Element, Bf16Element>)
    return hn::ShiftRight<detail::kBf16DroppedBits>(bf16_rounded_or_nan(ratios));
  if constexpr (!Element::kInteger && !std::is_same_v<Element, Bf16Element>)
    return encode_small<Element, kMayBeNan>(ratios);
}

template <class Element>
HWY_INLINE void store_codes(hn::Vec<Words> codes, std::byte* to) {
  if constexpr (kHalf<Element>) {
    hn::StoreU(hn::TruncateTo(Halves(), codes), Halves(), reinterpret_cast<std::uint16_t*>(to));
  } else {
    hn::StoreU(lowest_bytes(codes), UnsignedBytes(), reinterpret_cast<std::uint8_t*>(to));
  }
}

template <class Element, bool kMayBeNan = true>
HWY_INLINE void store_encoded(Vector ratios, std::byte* to) {
  if constexpr (std::is_same_v<Element, Fp32Element>) {
    store(ratios, reinterpret_cast<float*>(to));
  } else if constexpr (std::is_same_v<Element, Fp16Element>) {
    hn::StoreU(encode_halves(ratios), Halves(), reinterpret_cast<std::uint16_t*>(to));
  } else {
    store_codes<Element>(encode_lanes<Element, kMayBeNan>(ratios), to);
  }
}

template <class Element>
HWY_INLINE Vector load_decoded(const std::byte* from) {
  if constexpr (std::is_same_v<Element, Fp32Element>) {
    return load(reinterpret_cast<const float*>(from));
  } else if constexpr (Element::kInteger) {
    return decode_integers<Element>(
        hn::LoadU(SignedBytes(), reinterpret_cast<const std::int8_t*>(from)));
  } else if constexpr (kHalf<Element>) {
    const auto codes = hn::LoadU(Halves(), reinterpret_cast<const std::uint16_t*>(from));
    if constexpr (std::is_same_v<Element, Bf16Element>)
      return floats_of(hn::PromoteTo(Words(), codes));
    if constexpr (!std::is_same_v<Element, Bf16Element>) return decode_stored<Element>(codes);
  } else {
    return decode_stored<Element>(hn::PromoteTo(
        Halves(), hn::LoadU(UnsignedBytes(), reinterpret_cast<const std::uint8_t*>(from))));
  }
}

// Encodes and decodes, without the scale.
template <class Element>
HWY_INLINE Vector through_codes(Vector ratios) {
  if constexpr (std::is_same_v<Element, Fp32Element>) {
    return ratios;
  } else if constexpr (std::is_same_v<Element, Bf16Element>) {
    return rounded_floats(ratios);
  } else if constexpr (Element::kInteger) {
    constexpr float kLargest = Element::kMaxFinite;
    const Vector clamped =
        hn::Clamp(ratios, hn::Set(Floats(), -kLargest), hn::Set(Floats(), kLargest));
    const Vector aligned = hn::Set(Floats(), kAligned / Element::kCodesPerUnit);
    return hn::Sub(hn::Add(clamped, aligned), aligned);
  } else {
    return decode_small<Element>(encode_small<Element>(ratios));
  }
}

// Scalar versions. Payloads may be unaligned.
template <class Element>
HWY_INLINE void store_code(float ratio, std::byte* to) {
  const typename Element::Code code = Element::encode(ratio);
  std::memcpy(to, &code, sizeof(code));
}
template <class Element>
HWY_INLINE float load_code(const std::byte* from) {
  typename Element::Code code;
  std::memcpy(&code, from, sizeof(code));
  return Element::decode(code);
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace equarx::numerics::kernels
HWY_AFTER_NAMESPACE();

#endif
