#include <cstddef>
#include <span>
#include <type_traits>

#include "models/numerics/elements/element_codecs.hpp"
#include "models/numerics/kernels/kernels.hpp"

// foreach_target.h re-includes this file once per instruction set. The -inl headers follow it, so
// that they are compiled for each instruction set too.
// clang-format off
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "models/numerics/kernels/dequantize_add.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
#include "models/numerics/kernels/amax-inl.hpp"
#include "models/numerics/kernels/blocks-inl.hpp"
#include "models/numerics/kernels/packed_chunks-inl.hpp"
#include "models/numerics/kernels/runs-inl.hpp"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace equarx::numerics::kernels {
namespace HWY_NAMESPACE {
namespace {

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

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace equarx::numerics::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace equarx::numerics::kernels {

namespace {
HWY_EXPORT(DequantizeAdd);
}  // namespace

void dequantize_add(const Piece& piece, const std::byte* payload, const float* local,
                    std::span<float> sums, float* amax) {
  HWY_DYNAMIC_DISPATCH(DequantizeAdd)(piece, payload, local, sums, amax);
}

}  // namespace equarx::numerics::kernels
#endif
