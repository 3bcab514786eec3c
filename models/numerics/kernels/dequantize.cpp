#include <cstddef>
#include <span>

#include "models/numerics/elements/element_codecs.hpp"
#include "models/numerics/kernels/kernels.hpp"

// foreach_target.h re-includes this file once per instruction set. The -inl headers follow it, so
// that they are compiled for each instruction set too.
// clang-format off
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "models/numerics/kernels/dequantize.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
#include "models/numerics/kernels/blocks-inl.hpp"
#include "models/numerics/kernels/packed_chunks-inl.hpp"
#include "models/numerics/kernels/runs-inl.hpp"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace equarx::numerics::kernels {
namespace HWY_NAMESPACE {
namespace {

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

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace equarx::numerics::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace equarx::numerics::kernels {

namespace {
HWY_EXPORT(Dequantize);
}  // namespace

void dequantize(const Piece& piece, const std::byte* payload, std::span<float> values) {
  HWY_DYNAMIC_DISPATCH(Dequantize)(piece, payload, values);
}

}  // namespace equarx::numerics::kernels
#endif
