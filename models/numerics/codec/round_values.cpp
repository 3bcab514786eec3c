#include "models/numerics/codec/round_values.hpp"

#include <algorithm>
#include <array>
#include <cstddef>

#include "models/numerics/codec/bfloat16_spans.hpp"
#include "models/numerics/codec/block_codec.hpp"

namespace equarx::numerics {

void round_to_element(ElementFormat format, std::span<float> values) {
  if (format == ElementFormat::fp32) return;
  if (format == ElementFormat::bf16) return round_to_bf16(values);
  const BlockCodec codec({.element = format});
  constexpr std::size_t kChunk = 4096;  // stays in the first-level cache
  alignas(64) std::array<std::byte, kChunk * sizeof(float)> codes;
  while (!values.empty()) {
    const std::span<float> chunk = values.first(std::min(values.size(), kChunk));
    const auto stored = std::span(codes).first(payload_bytes(codec.format(), chunk.size()));
    codec.quantize(chunk, 0, {}, stored);
    codec.dequantize(stored, 0, {}, chunk);
    values = values.subspan(chunk.size());
  }
}

}  // namespace equarx::numerics
