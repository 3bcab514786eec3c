#include "models/numerics/inputs/inputs.hpp"

#include <algorithm>
#include <array>
#include <cstddef>

#include "models/numerics/kernels/random_values.hpp"

namespace equarx::numerics {

namespace {

using kernels::kRandomBlock;

void fill_block(const InputSpec& spec, std::uint32_t rank, std::uint64_t index,
                kernels::Quarters quarters, kernels::RandomBlock out) {
  const kernels::BlockOfValues block{spec.seed, rank, index};
  switch (spec.distribution) {
    case Distribution::normal: return kernels::fill_normal(block, quarters, out);
    case Distribution::uniform: return kernels::fill_uniform(block, quarters, out);
    case Distribution::heavy_tailed: return kernels::fill_heavy_tailed(block, quarters, out);
  }
}

/// The quarters with some of `length` values of a block from `skip` on.
kernels::Quarters quarters_of(std::size_t skip, std::size_t length) {
  constexpr std::size_t kQuarter = kernels::kBlockCounters;
  return {skip / kQuarter, (skip + length + kQuarter - 1) / kQuarter};
}

}  // namespace

void generate(const InputSpec& spec, std::uint32_t rank, std::uint64_t first_element,
              std::span<float> out) {
  const std::uint32_t source = spec.identical_ranks ? 0 : rank;
  std::uint64_t block = first_element / kRandomBlock;
  std::size_t skip = first_element % kRandomBlock;
  for (std::size_t done = 0; done < out.size(); skip = 0, ++block) {
    const std::size_t length = std::min(kRandomBlock - skip, out.size() - done);
    if (length == kRandomBlock) {
      fill_block(spec, source, block, {}, kernels::RandomBlock(out.data() + done, kRandomBlock));
    } else {
      std::array<float, kRandomBlock> whole;
      fill_block(spec, source, block, quarters_of(skip, length), whole);
      std::copy_n(whole.data() + skip, length, out.data() + done);
    }
    done += length;
  }
}

}  // namespace equarx::numerics
