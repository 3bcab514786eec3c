// Loops over whole contiguous blocks of whole vectors. MX and NVFP4 blocks are so short that
// setting up a separate run for each would cost as much as processing its elements.
// Compiled once per instruction set: the include guard toggles with foreach_target.h.
#if defined(EQUARX_NUMERICS_KERNELS_BLOCKS_INL_HPP_) == defined(HWY_TARGET_TOGGLE)
#ifdef EQUARX_NUMERICS_KERNELS_BLOCKS_INL_HPP_
#undef EQUARX_NUMERICS_KERNELS_BLOCKS_INL_HPP_
#else
#define EQUARX_NUMERICS_KERNELS_BLOCKS_INL_HPP_
#endif

#include <algorithm>
#include <cstddef>

#include <hwy/highway.h>

#include "models/numerics/kernels/amax-inl.hpp"
#include "models/numerics/kernels/codes-inl.hpp"
#include "models/numerics/kernels/kernels.hpp"
#include "models/numerics/kernels/lanes-inl.hpp"
#include "models/numerics/kernels/runs-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace equarx::numerics::kernels {
namespace HWY_NAMESPACE {
namespace {

// Splits a piece into its whole blocks, if these consist of whole vectors, and the parts before and
// after. Calls act_on_blocks(offset, blocks, first block) and act(part, offset, length).
template <class ActOnBlocks, class Act>
HWY_INLINE void split_blocks(const Piece& piece, std::size_t count, ActOnBlocks act_on_blocks,
                             Act act) {
  const BlockFormat& format = piece.format;
  if (!format.scaled || format.layout != ScaleLayout::contiguous || format.block % lanes() != 0)
    return act(piece, std::size_t{0}, count);
  const std::size_t block = format.block;
  const std::size_t head = std::min((block - piece.first % block) % block, count);
  if (head != 0) act(piece, std::size_t{0}, head);
  const std::size_t blocks = (count - head) / block;
  act_on_blocks(head, blocks, (piece.first + head) / block);
  const std::size_t done = head + blocks * block;
  Piece rest = piece;
  rest.first += done;
  if (done != count) act(rest, done, count - done);
}

template <class Element, class Scale>
HWY_INLINE void quantize_block_by(const float* values, std::size_t block, const Scale& scale,
                                  std::byte* codes) {
  for (std::size_t i = 0; i < block; i += lanes())
    store_encoded<Element, false>(quotients(load(values + i), scale, i),
                                  codes + i * kCodeBytes<Element>);
}

// E8M0 scales are powers of two; their inverses are exact except for the very smallest and largest.
template <class Element, bool kPowersOfTwo>
HWY_INLINE void quantize_blocks(const float* values, std::size_t blocks, std::size_t block,
                                const float* scales, std::byte* codes) {
  for (std::size_t b = 0; b < blocks; ++b) {
    const SharedScale scale{scales[b]};
    if (kPowersOfTwo && HWY_LIKELY(is_invertible(scale.scale)))
      quantize_block_by<Element>(values, block, InvertibleScale(scale), codes);
    else
      quantize_block_by<Element>(values, block, scale, codes);
    values += block;
    codes += block * kCodeBytes<Element>;
  }
}

template <class Element>
HWY_INLINE void dequantize_blocks(const std::byte* codes, std::size_t blocks, std::size_t block,
                                  const float* scales, float* values) {
  for (std::size_t b = 0; b < blocks; ++b) {
    const Vector scale = hn::Set(Floats(), scales[b]);
    for (std::size_t i = 0; i < block; i += lanes())
      store(hn::Mul(load_decoded<Element>(codes + i * kCodeBytes<Element>), scale), values + i);
    values += block;
    codes += block * kCodeBytes<Element>;
  }
}

// Addition of consecutive blocks.
template <class Element>
struct AddedBlocks {
  const std::byte* codes;
  std::size_t block;
  const float* scales;
  const float* local;
  float* sums;

  // Adds block `b`. Returns the largest magnitude in each lane.
  HWY_INLINE Vector add(std::size_t b) const {
    const Vector scale = hn::Set(Floats(), scales[b]);
    Vector most = hn::Zero(Floats());
    for (std::size_t i = b * block; i < (b + 1) * block; i += lanes()) {
      const Vector decoded = load_decoded<Element>(codes + i * kCodeBytes<Element>);
      const Vector sum = hn::Add(load(local + i), hn::Mul(decoded, scale));
      store(sum, sums + i);
      most = larger(most, sum);
    }
    return most;
  }
};

// `amax` may be null.
template <class Element>
HWY_INLINE void add_blocks(const AddedBlocks<Element>& added, std::size_t blocks, float* amax) {
  std::size_t b = 0;
#if HWY_TARGET != HWY_SCALAR
  for (; amax != nullptr && b + 4 <= blocks; b += 4) {
    const Vector one = added.add(b);
    const Vector two = added.add(b + 1);
    const Vector three = added.add(b + 2);
    raise_four(most_of_four(one, two, three, added.add(b + 3)), amax + b);
  }
#endif
  for (; b < blocks; ++b) {
    const Vector most = added.add(b);
    if (amax != nullptr) amax[b] = larger(amax[b], most_of(most));
  }
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace equarx::numerics::kernels
HWY_AFTER_NAMESPACE();

#endif
