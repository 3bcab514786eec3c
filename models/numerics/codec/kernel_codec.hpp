// A codec by the vector kernels, from which rules derive that deviate in some steps only.
#pragma once

#include "models/numerics/codec/rule_codec.hpp"
#include "models/numerics/kernels/kernels.hpp"

namespace equarx::numerics {

/// Codec with the scales and codes of models/numerics/kernels.
class KernelCodec : public RuleCodec {
 public:
  /// @throws std::invalid_argument for elements, scales and layouts that the kernels lack
  explicit KernelCodec(const BlockFormat& format);

  void find_amax(std::span<const float> values, std::size_t first,
                 std::span<float> amax) const override;
  void encode_scales(std::span<const float> amax, float elsewhere,
                     std::span<std::byte> bytes) const override;
  void decode_scales(std::span<const std::byte> bytes, std::span<float> scales) const override;
  void quantize(const ScaledPiece& piece, std::span<const float> values,
                std::span<std::byte> payload) const override;
  void dequantize(const ScaledPiece& piece, std::span<const std::byte> payload,
                  std::span<float> values) const override;
  void dequantize_add(const ScaledPiece& piece, std::span<const std::byte> payload,
                      std::span<const float> local, std::span<float> sums,
                      std::span<float> amax) const override;
  QuantizeCounts count(const ScaledPiece& piece, std::span<const float> values) const override;

 protected:
  /// The format of this codec.
  const BlockFormat& format() const { return format_; }
  /// A piece as an argument of kernels.
  kernels::Piece kernel_piece(const ScaledPiece& piece) const {
    return {format_, piece.first, piece.scales.data(), piece.key};
  }

 private:
  BlockFormat format_;
};

}  // namespace equarx::numerics
