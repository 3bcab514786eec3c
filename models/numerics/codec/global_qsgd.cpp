#include "models/numerics/codec/global_qsgd.hpp"

#include <limits>
#include <stdexcept>

#include "models/numerics/codec/exponents.hpp"
#include "models/numerics/codec/kernel_codec.hpp"
#include "models/numerics/codec/round_values.hpp"
#include "models/numerics/codec/shared_scale.hpp"

namespace equarx::numerics {
namespace {

class GlobalQsgdCodes final : public SharedCodes {
 public:
  GlobalQsgdCodes(ElementFormat element, float step) : element_(element), step_(step) {}

  float step() const override { return step_; }

  float largest() const override {
    return element_ == ElementFormat::exp8 ? exponents::kLargest : float{kInt8LargestCode};
  }

  void encode(std::span<float> values, const RoundingKey& key) const override {
    for (float& value : values) value /= step_;
    if (element_ == ElementFormat::exp8) return exponents::round(values, key);
    round_stochastically(element_, values, key);
  }

 private:
  ElementFormat element_;
  float step_;  ///< s
};

/// Sums of integer codes, which wrap.
class GlobalQsgdIntegers final : public KernelCodec {
 public:
  using KernelCodec::KernelCodec;

  void quantize(const ScaledPiece& /*piece*/, std::span<const float> values,
                std::span<std::byte> payload) const override {
    for (std::size_t i = 0; i < values.size(); ++i)
      payload[i] = static_cast<std::byte>(static_cast<std::int32_t>(values[i]));
  }

  /// Counts the sums that wrap, as clipped.
  QuantizeCounts count(const ScaledPiece& /*piece*/, std::span<const float> values) const override {
    constexpr float kLowest = std::numeric_limits<std::int8_t>::min();
    constexpr float kHighest = std::numeric_limits<std::int8_t>::max();
    QuantizeCounts counts{.elements = values.size()};
    for (const float sum : values)
      if (sum < kLowest || sum > kHighest) ++counts.clipped;
    return counts;
  }

  std::unique_ptr<const SharedCodes> share(float amax, std::uint32_t ranks) const override {
    constexpr float kInterval = 1.0F / kInt8LargestCode;
    return std::make_unique<const GlobalQsgdCodes>(ElementFormat::int8,
                                                   static_cast<float>(ranks) * amax * kInterval);
  }
};

/// Codes of exponents, which have no scales and are not added as numbers.
class GlobalQsgdExponents final : public RuleCodec {
 public:
  void quantize(const ScaledPiece& /*piece*/, std::span<const float> values,
                std::span<std::byte> payload) const override {
    exponents::store(values, payload);
  }

  void dequantize(const ScaledPiece& /*piece*/, std::span<const std::byte> payload,
                  std::span<float> values) const override {
    exponents::load(payload, values);
  }

  void dequantize_add(const ScaledPiece& /*piece*/, std::span<const std::byte> /*payload*/,
                      std::span<const float> /*local*/, std::span<float> /*sums*/,
                      std::span<float> /*amax*/) const override {
    throw std::logic_error("exp8 is added by exponents::add()");
  }

  QuantizeCounts count(const ScaledPiece& /*piece*/, std::span<const float> values) const override {
    return {.elements = values.size()};
  }

  std::unique_ptr<const SharedCodes> share(float amax, std::uint32_t ranks) const override {
    return std::make_unique<const GlobalQsgdCodes>(ElementFormat::exp8,
                                                   amax * (2.0F * static_cast<float>(ranks)));
  }
};

}  // namespace

std::unique_ptr<const RuleCodec> make_global_qsgd(const BlockFormat& format) {
  check_shared(format);
  if (format.element == ElementFormat::exp8) return std::make_unique<const GlobalQsgdExponents>();
  if (format.element != ElementFormat::int8)
    throw std::invalid_argument("Global-QSGD supports int8 and exp8 only");
  return std::make_unique<const GlobalQsgdIntegers>(format);
}

}  // namespace equarx::numerics
