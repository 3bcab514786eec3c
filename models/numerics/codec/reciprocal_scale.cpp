#include "models/numerics/codec/reciprocal_scale.hpp"

#include <cstring>
#include <stdexcept>

#include "models/numerics/kernels/reciprocal_codes.hpp"

namespace equarx::numerics {

void check_reciprocal(const BlockFormat& format, Rounding rounding) {
  if (!format.scaled || format.scale != ScaleFormat::fp32 ||
      format.layout != ScaleLayout::contiguous || format.tensor_scale ||
      format.rounding != rounding)
    throw std::invalid_argument(
        "ZeRO++ and SDP4Bit require fp32 scales of contiguous blocks, and rounding to nearest "
        "(ZeRO++) or stochastic rounding (SDP4Bit)");
  if (format.element != ElementFormat::int8 && format.element != ElementFormat::int4)
    throw std::invalid_argument("ZeRO++ and SDP4Bit support int8 and int4 only");
}

ReciprocalScale::ReciprocalScale(const BlockFormat& format, Rounding rounding)
    : KernelCodec(format) {
  check_reciprocal(format, rounding);
}

void ReciprocalScale::encode_scales(std::span<const float> amax, float /*elsewhere*/,
                                    std::span<std::byte> bytes) const {
  for (std::size_t i = 0; i < amax.size(); ++i) {
    const float most = stored(amax[i]);
    const float scale = 1.0F / (most == 0.0F ? 1.0F : target_code() / most);
    std::memcpy(&bytes[i * sizeof scale], &scale, sizeof scale);
  }
}

void ReciprocalScale::quantize(const ScaledPiece& piece, std::span<const float> values,
                               std::span<std::byte> payload) const {
  kernels::reciprocal::quantize(kernel_piece(piece), values, payload.data(), nullptr);
}

QuantizeCounts ReciprocalScale::quantize_and_count(const ScaledPiece& piece,
                                                   std::span<const float> values,
                                                   std::span<std::byte> payload) const {
  QuantizeCounts counts;
  kernels::reciprocal::quantize(kernel_piece(piece), values, payload.data(), &counts);
  return counts;
}

QuantizeCounts ReciprocalScale::count(const ScaledPiece& piece,
                                      std::span<const float> values) const {
  return kernels::reciprocal::count(kernel_piece(piece), values);
}

}  // namespace equarx::numerics
