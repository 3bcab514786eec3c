#include "models/numerics/codec/sdp4bit.hpp"

#include "models/numerics/codec/reciprocal_scale.hpp"

namespace equarx::numerics {
namespace {

class Sdp4Bit final : public ReciprocalScale {
 public:
  explicit Sdp4Bit(const BlockFormat& format) : ReciprocalScale(format, Rounding::stochastic) {}

 private:
  float stored(float amax) const override { return amax; }
  float target_code() const override {
    return format().element == ElementFormat::int8 ? 127.0F : 7.0F;
  }
};

}  // namespace

std::unique_ptr<const RuleCodec> make_sdp4bit(const BlockFormat& format) {
  return std::make_unique<const Sdp4Bit>(format);
}

}  // namespace equarx::numerics
