#include "models/numerics/codec/kernel_codec.hpp"

#include <stdexcept>

namespace equarx::numerics {

KernelCodec::KernelCodec(const BlockFormat& format) : format_(format) {
  if (format.element == ElementFormat::exp8)
    throw std::invalid_argument("exp8 requires Global-QSGD's scale, as its values are below 1");
  if (format.scale == ScaleFormat::fp16 || format.layout == ScaleLayout::paired)
    throw std::invalid_argument(
        "fp16 scales and the paired layout are supported for quickreduce formats only");
}

void KernelCodec::find_amax(std::span<const float> values, std::size_t first,
                            std::span<float> amax) const {
  kernels::find_amax({format_, first}, values, amax.data());
}

void KernelCodec::encode_scales(std::span<const float> amax, float elsewhere,
                                std::span<std::byte> bytes) const {
  kernels::encode_scales(format_, amax, elsewhere, bytes.data());
}

void KernelCodec::decode_scales(std::span<const std::byte> bytes, std::span<float> scales) const {
  kernels::decode_scales(format_, bytes.data(), scales);
}

void KernelCodec::quantize(const ScaledPiece& piece, std::span<const float> values,
                           std::span<std::byte> payload) const {
  kernels::quantize(kernel_piece(piece), values, payload.data());
}

void KernelCodec::dequantize(const ScaledPiece& piece, std::span<const std::byte> payload,
                             std::span<float> values) const {
  kernels::dequantize(kernel_piece(piece), payload.data(), values);
}

void KernelCodec::dequantize_add(const ScaledPiece& piece, std::span<const std::byte> payload,
                                 std::span<const float> local, std::span<float> sums,
                                 std::span<float> amax) const {
  kernels::dequantize_add(kernel_piece(piece), payload.data(), local.data(), sums,
                          amax.empty() ? nullptr : amax.data());
}

QuantizeCounts KernelCodec::count(const ScaledPiece& piece, std::span<const float> values) const {
  return kernels::count(kernel_piece(piece), values);
}

}  // namespace equarx::numerics
