#include <algorithm>
#include <cstddef>
#include <cstring>
#include <span>

#include "models/numerics/kernels/kernels.hpp"

// foreach_target.h re-includes this file once per instruction set. The -inl headers follow it, so
// that they are compiled for each instruction set too.
// clang-format off
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "models/numerics/kernels/block_scales.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
#include "models/numerics/kernels/amax-inl.hpp"
#include "models/numerics/kernels/scales-inl.hpp"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace equarx::numerics::kernels {
namespace HWY_NAMESPACE {
namespace {

// Scales do not exist yet; the Scales type only selects the grouping of elements.
void FindAmax(const Piece& piece, std::span<const float> values, float* amax) {
  if (!piece.format.scaled) return;
  if (is_strided(piece.format))
    raise_groups<LaneScales>(piece, values, amax);
  else
    raise_groups<SharedScale>(piece, values, amax);
}

void EncodeScales(const BlockFormat& format, std::span<const float> amax, float elsewhere,
                  std::byte* bytes) {
  ScaledElements elements = scaled_elements(format);
  if (format.tensor_scale) {
    const float scale =
        tensor_scale_for(std::max(largest_finite(amax), elsewhere), elements.largest);
    std::memcpy(bytes, &scale, kTensorScaleBytes);
    bytes += kTensorScaleBytes;
    elements.largest *= scale;
  }
  with_scales(format.scale,
              [&](auto scales) { encode_all_scales<decltype(scales)>(amax, elements, bytes); });
}

void DecodeScales(const BlockFormat& format, const std::byte* bytes, std::span<float> scales) {
  const std::byte* first = bytes + (format.tensor_scale ? kTensorScaleBytes : 0);
  with_scales(format.scale, [&](auto kind) { decode_all_scales<decltype(kind)>(first, scales); });
  if (!format.tensor_scale) return;
  float unit = 0.0F;
  std::memcpy(&unit, bytes, kTensorScaleBytes);
  for (float& scale : scales) scale *= unit;
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace equarx::numerics::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace equarx::numerics::kernels {

namespace {
HWY_EXPORT(FindAmax);
HWY_EXPORT(EncodeScales);
HWY_EXPORT(DecodeScales);
}  // namespace

void find_amax(const Piece& piece, std::span<const float> values, float* amax) {
  HWY_DYNAMIC_DISPATCH(FindAmax)(piece, values, amax);
}

void encode_scales(const BlockFormat& format, std::span<const float> amax, float elsewhere,
                   std::byte* bytes) {
  HWY_DYNAMIC_DISPATCH(EncodeScales)(format, amax, elsewhere, bytes);
}

void decode_scales(const BlockFormat& format, const std::byte* bytes, std::span<float> scales) {
  HWY_DYNAMIC_DISPATCH(DecodeScales)(format, bytes, scales);
}

}  // namespace equarx::numerics::kernels
#endif
