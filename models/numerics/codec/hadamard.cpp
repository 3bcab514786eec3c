#include "models/numerics/codec/hadamard.hpp"

namespace equarx::numerics {
namespace {

void rotate_block(float* values) {
  for (std::size_t stride = 1; stride < kHadamardOrder; stride *= 2)
    for (std::size_t run = 0; run < kHadamardOrder; run += 2 * stride)
      for (std::size_t i = run; i < run + stride; ++i) {
        const float low = values[i];
        const float high = values[i + stride];
        values[i] = low + high;
        values[i + stride] = low - high;
      }
}

std::size_t whole_blocks(std::span<const float> values) {
  return values.size() / kHadamardOrder * kHadamardOrder;
}

}  // namespace

void rotate(std::span<float> values) {
  for (std::size_t begin = 0; begin < whole_blocks(values); begin += kHadamardOrder)
    rotate_block(&values[begin]);
}

void rotate_back(std::span<float> values) {
  constexpr float kInverse = 1.0F / kHadamardOrder;
  rotate(values);
  for (float& value : values.first(whole_blocks(values))) value *= kInverse;
}

}  // namespace equarx::numerics
