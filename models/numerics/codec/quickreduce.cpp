#include "models/numerics/codec/quickreduce.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>

#include "models/numerics/kernels/paired_codes.hpp"

namespace equarx::numerics {
namespace {

namespace paired = kernels::paired;

class QuickReduce final : public RuleCodec {
 public:
  explicit QuickReduce(const BlockFormat& format) : format_(format) {}

  void find_amax(std::span<const float> values, std::size_t first,
                 std::span<float> extrema) const override {
    paired::find_extrema(first, values, extrema.data());
  }

  void encode_scales(std::span<const float> extrema, float /*elsewhere*/,
                     std::span<std::byte> bytes) const override {
    paired::encode_scales(format_.element, extrema, bytes.data());
  }

  void decode_scales(std::span<const std::byte> bytes, std::span<float> scales) const override {
    paired::decode_scales(bytes.data(), scales);
  }

  void quantize(const ScaledPiece& piece, std::span<const float> values,
                std::span<std::byte> payload) const override {
    paired::quantize(kernel_piece(piece), values, payload.data(), nullptr);
  }

  QuantizeCounts quantize_and_count(const ScaledPiece& piece, std::span<const float> values,
                                    std::span<std::byte> payload) const override {
    QuantizeCounts counts;
    paired::quantize(kernel_piece(piece), values, payload.data(), &counts);
    return counts;
  }

  void dequantize(const ScaledPiece& piece, std::span<const std::byte> payload,
                  std::span<float> values) const override {
    paired::dequantize(kernel_piece(piece), payload.data(), values);
  }

  void dequantize_add(const ScaledPiece& piece, std::span<const std::byte> payload,
                      std::span<const float> local, std::span<float> sums,
                      std::span<float> extrema) const override {
    paired::dequantize_add(kernel_piece(piece), payload.data(), local.data(), sums,
                           extrema.empty() ? nullptr : extrema.data());
  }

  QuantizeCounts count(const ScaledPiece& piece, std::span<const float> values) const override {
    return paired::count(kernel_piece(piece), values);
  }

 private:
  kernels::Piece kernel_piece(const ScaledPiece& piece) const {
    return {format_, piece.first, piece.scales.data()};
  }

  BlockFormat format_;
};

/// Accepts exactly the published formats.
void check(const BlockFormat& format) {
  if (!format.scaled || format.scale != ScaleFormat::fp16 || format.layout != ScaleLayout::paired ||
      format.block != kQuickReduceBlock || format.rounding != Rounding::nearest ||
      format.tensor_scale)
    throw std::invalid_argument(
        "a quickreduce format requires fp16 scales of 32 paired elements and rounding to nearest");
  constexpr std::array kElements = {ElementFormat::int8, ElementFormat::int6, ElementFormat::int4,
                                    ElementFormat::fp8_e4m3fnuz};
  if (std::ranges::find(kElements, format.element) == kElements.end())
    throw std::invalid_argument("QuickReduce supports int8, int6, int4 and fp8-e4m3fnuz only");
}

}  // namespace

std::unique_ptr<const RuleCodec> make_quickreduce(const BlockFormat& format) {
  check(format);
  return std::make_unique<const QuickReduce>(format);
}

}  // namespace equarx::numerics
