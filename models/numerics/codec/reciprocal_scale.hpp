// Integers scaled by a factor whose reciprocal is sent as the scale, as in ZeRO++ and SDP4Bit.
//
// With M the amax of a group and all two's complement codes, including the lowest:
//   factor = M == 0 ? 1 : n / M;  scale = 1 / factor, in FP32;
//   code = clamp(round(x factor));  value = code scale.
#pragma once

#include <cstddef>
#include <span>

#include "models/formats/block_format.hpp"
#include "models/numerics/codec/kernel_codec.hpp"

namespace equarx::numerics {

/// @throws std::invalid_argument for a format that is not int8 or int4 in contiguous groups with
/// FP32 scales, or is not rounded by `rounding`
void check_reciprocal(const BlockFormat& format, Rounding rounding);

/// Codec of a rule with a reciprocal scale, by the kernels of such rules.
class ReciprocalScale : public KernelCodec {
 public:
  /// @throws std::invalid_argument: see check_reciprocal()
  ReciprocalScale(const BlockFormat& format, Rounding rounding);

  void encode_scales(std::span<const float> amax, float elsewhere,
                     std::span<std::byte> bytes) const override;
  void quantize(const ScaledPiece& piece, std::span<const float> values,
                std::span<std::byte> payload) const override;
  QuantizeCounts quantize_and_count(const ScaledPiece& piece, std::span<const float> values,
                                    std::span<std::byte> payload) const override;
  QuantizeCounts count(const ScaledPiece& piece, std::span<const float> values) const override;

 private:
  /// Amax in the type that the rule computes in.
  virtual float stored(float amax) const = 0;
  /// Code that the amax is scaled to: n in the header comment.
  virtual float target_code() const = 0;
};

}  // namespace equarx::numerics
