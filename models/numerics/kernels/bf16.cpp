#include <cstddef>
#include <cstdint>
#include <span>

#include "models/numerics/elements/bfloat16.hpp"
#include "models/numerics/kernels/kernels.hpp"

// foreach_target.h re-includes this file once per instruction set. The -inl headers follow it, so
// that they are compiled for each instruction set too.
// clang-format off
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "models/numerics/kernels/bf16.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
#include "models/numerics/kernels/bf16-inl.hpp"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace equarx::numerics::kernels {
namespace HWY_NAMESPACE {
namespace {

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
HWY_EXPORT(EncodeBf16);
HWY_EXPORT(DecodeBf16);
HWY_EXPORT(RoundToBf16);
}  // namespace

void encode_bf16(std::span<const float> values, std::uint16_t* codes) {
  HWY_DYNAMIC_DISPATCH(EncodeBf16)(values, codes);
}

void decode_bf16(const std::uint16_t* codes, std::span<float> values) {
  HWY_DYNAMIC_DISPATCH(DecodeBf16)(codes, values);
}

void round_to_bf16(std::span<float> values) { HWY_DYNAMIC_DISPATCH(RoundToBf16)(values); }

}  // namespace equarx::numerics::kernels
#endif
