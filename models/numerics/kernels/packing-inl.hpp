// Vectorised packing of 4-bit and 6-bit codes, equivalent to elements/bit_packing.hpp, by shifts
// within lanes and byte shuffles.
// Compiled once per instruction set: the include guard toggles with foreach_target.h.
#if defined(EQUARX_NUMERICS_KERNELS_PACKING_INL_HPP_) == defined(HWY_TARGET_TOGGLE)
#ifdef EQUARX_NUMERICS_KERNELS_PACKING_INL_HPP_
#undef EQUARX_NUMERICS_KERNELS_PACKING_INL_HPP_
#else
#define EQUARX_NUMERICS_KERNELS_PACKING_INL_HPP_
#endif

#include <climits>
#include <cstddef>
#include <cstdint>

#include <hwy/highway.h>

#include "models/numerics/elements/bit_packing.hpp"
#include "models/numerics/elements/element_codecs.hpp"
#include "models/numerics/kernels/lanes-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace equarx::numerics::kernels {
namespace HWY_NAMESPACE {
namespace {

// Returns the bits of a code in a payload.
template <class Element>
constexpr int bits_of_code() {
  if constexpr (requires { Element::kMagnitudeBits; }) return 1 + Element::kMagnitudeBits;
  return CHAR_BIT * sizeof(typename Element::Code);
}
template <class Element>
constexpr int kBits = bits_of_code<Element>();
template <class Element>
constexpr bool kPacked = kBits<Element> < CHAR_BIT;

// The functions below pack or unpack as many of `count` codes as fill whole vectors, and return
// their number. The 6-bit versions access whole vectors of packed bytes, but never beyond `room`
// bytes; excess bytes are overwritten by later codes.
#if HWY_TARGET != HWY_SCALAR

using AllBytes = hn::ScalableTag<std::uint8_t>;
using AllPairs = hn::Repartition<std::uint16_t, AllBytes>;
using AllQuads = hn::Repartition<std::uint32_t, AllBytes>;
using HalfBytes = hn::Half<AllBytes>;

HWY_INLINE hn::Vec<AllBytes> load_bytes(const std::byte* from) {
  return hn::LoadU(AllBytes(), reinterpret_cast<const std::uint8_t*>(from));
}
HWY_INLINE void store_bytes(hn::Vec<AllBytes> bytes, std::byte* to) {
  hn::StoreU(bytes, AllBytes(), reinterpret_cast<std::uint8_t*>(to));
}

// Sign-extends signed codes to bytes.
template <int kWidth, bool kSigned>
HWY_INLINE hn::Vec<AllBytes> with_sign_bits(hn::Vec<AllBytes> codes) {
  if constexpr (!kSigned) return codes;
  const auto sign = hn::Set(AllBytes(), 1U << (kWidth - 1));
  return hn::Sub(hn::Xor(codes, sign), sign);
}

HWY_INLINE std::size_t pack_nibbles(const std::byte* codes, std::size_t count, std::byte* packed) {
  const std::size_t step = hn::Lanes(AllBytes());
  std::size_t done = 0;
  for (; done + step <= count; done += step) {
    const auto low = hn::And(load_bytes(codes + done), hn::Set(AllBytes(), 0x0f));
    const auto pairs = hn::BitCast(AllPairs(), low);
    const auto joined = hn::Or(pairs, hn::ShiftRight<4>(pairs));
    hn::StoreU(hn::TruncateTo(HalfBytes(), joined), HalfBytes(),
               reinterpret_cast<std::uint8_t*>(packed + done / 2));
  }
  return done;
}

template <bool kSigned>
HWY_INLINE std::size_t unpack_nibbles(const std::byte* packed, std::size_t count,
                                      std::byte* codes) {
  const std::size_t step = hn::Lanes(AllBytes());
  std::size_t done = 0;
  for (; done + step <= count; done += step) {
    const auto half =
        hn::LoadU(HalfBytes(), reinterpret_cast<const std::uint8_t*>(packed + done / 2));
    const auto pairs = hn::PromoteTo(AllPairs(), half);
    const auto apart = hn::Or(pairs, hn::ShiftLeft<4>(pairs));
    const auto bytes = hn::And(hn::BitCast(AllBytes(), apart), hn::Set(AllBytes(), 0x0f));
    store_bytes(with_sign_bits<4, kSigned>(bytes), codes + done);
  }
  return done;
}

// Byte shuffles of the 6-bit versions within each block of 16 bytes: three bytes of four, and back.
alignas(16) constexpr std::uint8_t kThreeOfFour[16] = {0,  1,  2,  4,  5,    6,    8,    9,
                                                       10, 12, 13, 14, 0x80, 0x80, 0x80, 0x80};
alignas(16) constexpr std::uint8_t kFourOfThree[16] = {0, 1, 2, 0x80, 3, 4,  5,  0x80,
                                                       6, 7, 8, 0x80, 9, 10, 11, 0x80};
constexpr std::size_t kBlockQuads = 4;   // quads in a block of 16 bytes
constexpr std::size_t kPackedQuads = 3;  // quads of a packed block

// Source quad of each quad of a vector, to close the gaps between packed blocks, and to open them.
HWY_INLINE auto closing_gaps() {
  HWY_ALIGN std::int32_t from[hn::MaxLanes(AllQuads())];
  for (std::size_t i = 0; i < hn::Lanes(AllQuads()); ++i) {
    const std::size_t quad = i / kPackedQuads * kBlockQuads + i % kPackedQuads;
    from[i] = static_cast<std::int32_t>(quad < hn::Lanes(AllQuads()) ? quad : 0);
  }
  return hn::SetTableIndices(AllQuads(), from);
}
HWY_INLINE auto opening_gaps() {
  HWY_ALIGN std::int32_t from[hn::MaxLanes(AllQuads())];
  for (std::size_t i = 0; i < hn::Lanes(AllQuads()); ++i)
    from[i] = static_cast<std::int32_t>(i / kBlockQuads * kPackedQuads + i % kBlockQuads % 3);
  return hn::SetTableIndices(AllQuads(), from);
}

HWY_INLINE std::size_t pack_sixes(const std::byte* codes, std::size_t count, std::byte* packed,
                                  std::size_t room) {
  const std::size_t step = hn::Lanes(AllBytes());
  const auto gaps = closing_gaps();
  const auto shuffle = hn::LoadDup128(AllBytes(), kThreeOfFour);
  std::size_t done = 0;
  for (; done + step <= count && done / 4 * 3 + step <= room; done += step) {
    const auto quads = hn::BitCast(AllQuads(), load_bytes(codes + done));
    const auto even = hn::And(quads, hn::Set(AllQuads(), 0x003f003fU));
    const auto odd = hn::And(quads, hn::Set(AllQuads(), 0x3f003f00U));
    const auto twelves = hn::Or(even, hn::ShiftRight<2>(odd));
    const auto low = hn::And(twelves, hn::Set(AllQuads(), 0x00000fffU));
    const auto high = hn::And(twelves, hn::Set(AllQuads(), 0x0fff0000U));
    const auto joined = hn::Or(low, hn::ShiftRight<4>(high));
    const auto close = hn::TableLookupBytesOr0(hn::BitCast(AllBytes(), joined), shuffle);
    const auto all = hn::TableLookupLanes(hn::BitCast(AllQuads(), close), gaps);
    store_bytes(hn::BitCast(AllBytes(), all), packed + done / 4 * 3);
  }
  return done;
}

template <bool kSigned>
HWY_INLINE std::size_t unpack_sixes(const std::byte* packed, std::size_t room, std::size_t count,
                                    std::byte* codes) {
  const std::size_t step = hn::Lanes(AllBytes());
  const auto gaps = opening_gaps();
  const auto shuffle = hn::LoadDup128(AllBytes(), kFourOfThree);
  std::size_t done = 0;
  for (; done + step <= count && done / 4 * 3 + step <= room; done += step) {
    const auto close = hn::BitCast(AllQuads(), load_bytes(packed + done / 4 * 3));
    const auto open = hn::BitCast(AllBytes(), hn::TableLookupLanes(close, gaps));
    const auto joined = hn::BitCast(AllQuads(), hn::TableLookupBytesOr0(open, shuffle));
    const auto low = hn::And(joined, hn::Set(AllQuads(), 0x00000fffU));
    const auto high = hn::And(hn::ShiftLeft<4>(joined), hn::Set(AllQuads(), 0x0fff0000U));
    const auto twelves = hn::Or(low, high);
    const auto even = hn::And(twelves, hn::Set(AllQuads(), 0x003f003fU));
    const auto odd = hn::And(hn::ShiftLeft<2>(twelves), hn::Set(AllQuads(), 0x3f003f00U));
    const auto bytes = hn::BitCast(AllBytes(), hn::Or(even, odd));
    store_bytes(with_sign_bits<6, kSigned>(bytes), codes + done);
  }
  return done;
}

#else

HWY_INLINE std::size_t pack_nibbles(const std::byte*, std::size_t, std::byte*) { return 0; }
template <bool kSigned>
HWY_INLINE std::size_t unpack_nibbles(const std::byte*, std::size_t, std::byte*) {
  return 0;
}
HWY_INLINE std::size_t pack_sixes(const std::byte*, std::size_t, std::byte*, std::size_t) {
  return 0;
}
template <bool kSigned>
HWY_INLINE std::size_t unpack_sixes(const std::byte*, std::size_t, std::size_t, std::byte*) {
  return 0;
}

#endif

template <class Element>
HWY_INLINE void pack(const std::byte* codes, std::size_t count, std::byte* packed,
                     std::size_t room) {
  std::size_t done = 0;
  if constexpr (kBits<Element> == 4) done = pack_nibbles(codes, count, packed);
  if constexpr (kBits<Element> == 6) done = pack_sixes(codes, count, packed, room);
  pack_codes<kBits<Element>>(codes + done, count - done, packed + done * kBits<Element> / CHAR_BIT);
}

template <class Element>
HWY_INLINE void unpack(const std::byte* packed, std::size_t room, std::size_t count,
                       std::byte* codes) {
  constexpr bool kSigned = Element::kInteger;
  std::size_t done = 0;
  if constexpr (kBits<Element> == 4) done = unpack_nibbles<kSigned>(packed, count, codes);
  if constexpr (kBits<Element> == 6) done = unpack_sixes<kSigned>(packed, room, count, codes);
  unpack_codes<kBits<Element>, kSigned>(packed + done * kBits<Element> / CHAR_BIT, count - done,
                                        codes + done);
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace equarx::numerics::kernels
HWY_AFTER_NAMESPACE();

#endif
