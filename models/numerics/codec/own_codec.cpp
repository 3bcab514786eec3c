#include "models/numerics/codec/own_codec.hpp"

#include <cstring>
#include <utility>

namespace equarx::numerics {
namespace {

class OwnCodec final : public RuleCodec {
 public:
  explicit OwnCodec(RoundTrip round_trip) : round_trip_(std::move(round_trip)) {}

  void quantize(const ScaledPiece& /*piece*/, std::span<const float> values,
                std::span<std::byte> payload) const override {
    round_trip_(values, as_floats(payload));
  }

  void dequantize(const ScaledPiece& /*piece*/, std::span<const std::byte> payload,
                  std::span<float> values) const override {
    std::memcpy(values.data(), payload.data(), payload.size());
  }

  void dequantize_add(const ScaledPiece& /*piece*/, std::span<const std::byte> payload,
                      std::span<const float> local, std::span<float> sums,
                      std::span<float> /*amax*/) const override {
    for (std::size_t i = 0; i < sums.size(); ++i) {
      float decoded = 0.0F;
      std::memcpy(&decoded, &payload[i * sizeof(float)], sizeof(float));
      sums[i] = local[i] + decoded;
    }
  }

  /// The user's codes have no largest one that this program knows of.
  QuantizeCounts count(const ScaledPiece& /*piece*/, std::span<const float> values) const override {
    return {.elements = values.size()};
  }

 private:
  /// Payloads are aligned (AlignedVector).
  static std::span<float> as_floats(std::span<std::byte> bytes) {
    return {reinterpret_cast<float*>(bytes.data()), bytes.size() / sizeof(float)};
  }

  RoundTrip round_trip_;
};

}  // namespace

std::shared_ptr<const RuleCodec> make_own_codec(RoundTrip round_trip) {
  return std::make_shared<const OwnCodec>(std::move(round_trip));
}

}  // namespace equarx::numerics
