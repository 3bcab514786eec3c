// The loops of BlockCodec, compiled for every instruction set that Highway knows on this
// architecture and chosen at run time. All give the same bits: IEEE operations in the same order,
// no fused multiply-add, no approximation.
//
// BlockCodec checks what is passed. A payload is payload_bytes() long. No alignment is asked for, and
// nothing is read or written beyond the spans.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

#include "models/formats/block_format.hpp"
#include "models/numerics/kernels/quantize_counts.hpp"
#include "models/numerics/random/rounding_key.hpp"

namespace equarx::numerics::kernels {

// Payloads and scales are written as they lie in memory.
static_assert(std::endian::native == std::endian::little);

/// Where a piece of a minishard lies, and the scales of the whole minishard.
struct Piece {
  BlockFormat format;
  std::size_t first = 0;          ///< of the piece in its minishard
  const float* scales = nullptr;  ///< not read if the format has none
  RoundingKey key = {};           ///< not read if the format rounds to nearest
};

/// Raises each group's amax to the largest magnitude among its values.
void find_amax(const Piece& piece, std::span<const float> values, float* amax);

/// Makes of each group's amax its scale as it goes on the wire, scales_bytes() in all. A tensor scale
/// covers an amax of `elsewhere`, too.
void encode_scales(const BlockFormat& format, std::span<const float> amax, float elsewhere,
                   std::byte* bytes);
/// Reads as many.
void decode_scales(const BlockFormat& format, const std::byte* bytes, std::span<float> scales);

/// Values into the codes that their format and scales give them, packed.
void quantize(const Piece& piece, std::span<const float> values, std::byte* payload);
/// Codes back into values.
void dequantize(const Piece& piece, const std::byte* payload, std::span<float> values);

/// sums = local + decoded codes; `sums` is `local` or does not overlap it. Then raises amax by the
/// sums, unless it is null.
void dequantize_add(const Piece& piece, const std::byte* payload, const float* local,
                    std::span<float> sums, float* amax);

/// How many values are clipped, become zero, and so on, when they are quantized.
QuantizeCounts count(const Piece& piece, std::span<const float> values);

/// Rounds to bfloat16, ties to even.
void encode_bf16(std::span<const float> values, std::uint16_t* codes);
/// bfloat16 into the same values in float32.
void decode_bf16(const std::uint16_t* codes, std::span<float> values);
/// encode_bf16() and decode_bf16() in place.
void round_to_bf16(std::span<float> values);

}  // namespace equarx::numerics::kernels
