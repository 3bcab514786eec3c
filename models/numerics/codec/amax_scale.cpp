#include "models/numerics/codec/amax_scale.hpp"

#include <stdexcept>
#include <string>

#include "models/numerics/codec/kernel_codec.hpp"

namespace equarx::numerics {
namespace {

bool is_int8_or_fp8(ElementFormat format) {
  return format == ElementFormat::int8 || format == ElementFormat::fp8_e4m3 ||
         format == ElementFormat::fp8_e5m2 || format == ElementFormat::fp8_e4m3fnuz ||
         format == ElementFormat::fp8_e5m2fnuz;
}

bool may_be_scaled(ElementFormat format) {
  return format != ElementFormat::fp32 && format != ElementFormat::bf16 &&
         format != ElementFormat::fp16;
}

/// False for integers, for which no published code defines ScaleRounding::even.
bool has_mantissa(ElementFormat format) {
  return format != ElementFormat::int8 && format != ElementFormat::int6 &&
         format != ElementFormat::int4 && format != ElementFormat::mxint8;
}

bool may_be_plain(ElementFormat format) { return !may_be_scaled(format) || is_int8_or_fp8(format); }

void check_scale_rounding(const BlockFormat& format) {
  if (format.scale_rounding == ScaleRounding::floor) return;
  if (!format.scaled || format.scale != ScaleFormat::e8m0)
    throw std::invalid_argument("scales are rounded up or to even only if they are e8m0");
  if (format.scale_rounding == ScaleRounding::even && !has_mantissa(format.element))
    throw std::invalid_argument(std::string(name(format.element)) +
                                " has no mantissa to round amax to, so its scales are not rounded "
                                "to even; use \"floor\" or \"up\"");
}

class AmaxScale final : public KernelCodec {
 public:
  explicit AmaxScale(const BlockFormat& format) : KernelCodec(format) {
    const std::string element(name(format.element));
    if (format.scaled && !may_be_scaled(format.element))
      throw std::invalid_argument(element +
                                  " with scales is not supported; drop them, or use int8 or FP8");
    if (!format.scaled && !may_be_plain(format.element))
      throw std::invalid_argument(element +
                                  " without scales is not supported: its range is too small");
    if (format.tensor_scale && (!format.scaled || format.scale != ScaleFormat::e4m3))
      throw std::invalid_argument("a tensor scale requires e4m3 scales, as in nvfp4");
    check_scale_rounding(format);
    if (format.rounding == Rounding::stochastic && !is_int8_or_fp8(format.element))
      throw std::invalid_argument(element +
                                  " with stochastic rounding is not supported; use int8 or FP8");
  }

  QuantizeCounts quantize_and_count(const ScaledPiece& piece, std::span<const float> values,
                                    std::span<std::byte> payload) const override {
    return kernels::quantize_and_count(kernel_piece(piece), values, payload.data());
  }
};

}  // namespace

std::unique_ptr<const RuleCodec> make_amax_scale(const BlockFormat& format) {
  return std::make_unique<const AmaxScale>(format);
}

}  // namespace equarx::numerics
