#include "models/numerics/codec/round_values.hpp"

#include <algorithm>
#include <array>
#include <cstddef>

#include "models/numerics/codec/bfloat16_spans.hpp"
#include "models/numerics/codec/block_codec.hpp"

namespace equarx::numerics {

namespace {

void round_by(const BlockCodec& codec, std::span<float> values, RoundingKey key) {
  constexpr std::size_t kChunk = 4096;  // fits in the L1 cache
  alignas(64) std::array<std::byte, kChunk * sizeof(float)> codes;
  while (!values.empty()) {
    const std::span<float> chunk = values.first(std::min(values.size(), kChunk));
    const auto stored = std::span(codes).first(payload_bytes(codec.format(), chunk.size()));
    codec.quantize(chunk, 0, {}, stored, key);
    codec.dequantize(stored, 0, {}, chunk);
    key.first_element += chunk.size();
    values = values.subspan(chunk.size());
  }
}

}  // namespace

void round_to_element(ElementFormat format, std::span<float> values) {
  if (format == ElementFormat::fp32) return;
  if (format == ElementFormat::bf16) return round_to_bf16(values);
  round_by(BlockCodec({.element = format}), values, {});  // rounding to nearest ignores the key
}

void round_stochastically(ElementFormat format, std::span<float> values, const RoundingKey& key) {
  round_by(BlockCodec({.element = format, .rounding = Rounding::stochastic}), values, key);
}

}  // namespace equarx::numerics
