// Payloads of packed formats, unpacked to one code per byte in chunks.
// Compiled once per instruction set: the include guard toggles with foreach_target.h.
#if defined(EQUARX_NUMERICS_KERNELS_PACKED_CHUNKS_INL_HPP_) == defined(HWY_TARGET_TOGGLE)
#ifdef EQUARX_NUMERICS_KERNELS_PACKED_CHUNKS_INL_HPP_
#undef EQUARX_NUMERICS_KERNELS_PACKED_CHUNKS_INL_HPP_
#else
#define EQUARX_NUMERICS_KERNELS_PACKED_CHUNKS_INL_HPP_
#endif

#include <array>
#include <climits>
#include <cstddef>

#include <hwy/highway.h>

#include "models/numerics/kernels/kernels.hpp"
#include "models/numerics/kernels/lanes-inl.hpp"
#include "models/numerics/kernels/packing-inl.hpp"
#include "models/numerics/kernels/runs-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace equarx::numerics::kernels {
namespace HWY_NAMESPACE {
namespace {

// Elements of a chunk: whole registers, for add_registers(), that fit in the L1 cache.
constexpr std::size_t kPackedChunk = 4 * kRegisterElements;
using CodeChunk = std::array<std::byte, kPackedChunk>;

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

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace equarx::numerics::kernels
HWY_AFTER_NAMESPACE();

#endif
