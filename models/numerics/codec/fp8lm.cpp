#include "models/numerics/codec/fp8lm.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "models/numerics/codec/kernel_codec.hpp"
#include "models/numerics/codec/round_values.hpp"
#include "models/numerics/codec/shared_scale.hpp"
#include "models/numerics/elements/minifloat.hpp"

namespace equarx::numerics {
namespace {

float mu_of(const Mu& mu, std::uint32_t ranks) {
  const double n = ranks;
  switch (mu.of) {
    case Mu::Of::root: return static_cast<float>(1.0 / std::sqrt(n));
    case Mu::Of::pre_scaling: return static_cast<float>(1.0 / n);
    case Mu::Of::post_scaling: return 1.0F;
    case Mu::Of::value: return mu.value;
  }
  throw std::logic_error("unknown mu");
}

float largest_of(ElementFormat element) {
  return element == ElementFormat::fp8_e4m3 ? Fp8E4m3::kMaxFinite : Fp8E5m2::kMaxFinite;
}

/// Returns 2^e.
float power_of(float largest, float amax) {
  constexpr float kMostExponent = 125.0F;
  if (!(amax > 0.0F && std::isfinite(amax))) return 1.0F;
  return std::exp2(std::min(std::floor(std::log2(largest / amax)), kMostExponent));
}

class Fp8LmCodes final : public SharedCodes {
 public:
  Fp8LmCodes(const BlockFormat& format, float amax, std::uint32_t ranks)
      : element_(format.element),
        factor_(power_of(largest_of(element_), amax) * mu_of(format.mu, ranks)) {}

  float step() const override { return 1.0F / factor_; }

  float largest() const override { return largest_of(element_); }

  void encode(std::span<float> values, const RoundingKey& /*key*/) const override {
    const float most = largest();
    for (float& value : values) {
      value *= factor_;
      // Inf saturates as in CUDA's conversion; NaN passes both comparisons unchanged.
      if (value > most) value = most;
      if (value < -most) value = -most;
    }
    round_to_element(element_, values);
  }

 private:
  ElementFormat element_;
  float factor_;  ///< f
};

class Fp8Lm final : public KernelCodec {
 public:
  explicit Fp8Lm(const BlockFormat& format) : KernelCodec(format) {
    check_shared(format);
    if (format.element != ElementFormat::fp8_e4m3 && format.element != ElementFormat::fp8_e5m2)
      throw std::invalid_argument("FP8-LM supports fp8-e4m3 and fp8-e5m2 only");
    if (!(format.mu.value > 0.0F && format.mu.value <= std::numeric_limits<float>::max()))
      throw std::invalid_argument("mu must be a number above 0");
  }

  std::unique_ptr<const SharedCodes> share(float amax, std::uint32_t ranks) const override {
    return std::make_unique<const Fp8LmCodes>(format(), amax, ranks);
  }
};

}  // namespace

std::unique_ptr<const RuleCodec> make_fp8lm(const BlockFormat& format) {
  return std::make_unique<const Fp8Lm>(format);
}

}  // namespace equarx::numerics
