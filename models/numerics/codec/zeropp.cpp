#include "models/numerics/codec/zeropp.hpp"

#include "models/numerics/codec/reciprocal_scale.hpp"
#include "models/numerics/elements/float16.hpp"
#include "models/numerics/kernels/reciprocal_codes.hpp"

namespace equarx::numerics {
namespace {

class ZeroPp final : public ReciprocalScale {
 public:
  explicit ZeroPp(const BlockFormat& format) : ReciprocalScale(format, Rounding::nearest) {}

  void find_amax(std::span<const float> values, std::size_t first,
                 std::span<float> amax) const override {
    kernels::reciprocal::find_half_amax({format(), first}, values, amax.data());
  }

  void dequantize(const ScaledPiece& piece, std::span<const std::byte> payload,
                  std::span<float> values) const override {
    kernels::reciprocal::dequantize_halves(kernel_piece(piece), payload.data(), values);
  }

  void dequantize_add(const ScaledPiece& piece, std::span<const std::byte> payload,
                      std::span<const float> local, std::span<float> sums,
                      std::span<float> amax) const override {
    kernels::reciprocal::dequantize_add_halves(kernel_piece(piece), payload.data(), local.data(),
                                               sums, amax.empty() ? nullptr : amax.data());
  }

 private:
  float stored(float amax) const override { return round_to_fp16(amax); }
  float target_code() const override {
    return format().element == ElementFormat::int8 ? 128.0F : 8.0F;
  }
};

}  // namespace

std::unique_ptr<const RuleCodec> make_zeropp(const BlockFormat& format) {
  return std::make_unique<const ZeroPp>(format);
}

}  // namespace equarx::numerics
