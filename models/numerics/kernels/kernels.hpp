// Loops of BlockCodec, compiled for every instruction set that Highway supports on this
// architecture and dispatched at run time. All give the same bits: IEEE operations in the same
// order, no fused multiply-add, no approximation.
//
// Arguments are validated by BlockCodec. A payload has payload_bytes() bytes. Any alignment is
// accepted, and nothing is read or written beyond the spans.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

#include "models/formats/block_format.hpp"
#include "models/numerics/kernels/quantize_counts.hpp"
#include "models/numerics/random/rounding_key.hpp"

namespace equarx::numerics::kernels {

// Payloads and scales are written in memory order.
static_assert(std::endian::native == std::endian::little);

/// A piece of a minishard, with the scales of the whole minishard.
struct Piece {
  BlockFormat format;
  std::size_t first = 0;          ///< offset of the piece in its minishard
  const float* scales = nullptr;  ///< unused if the format has none
  RoundingKey key = {};           ///< unused if the format rounds to nearest
};

/// Raises each group's amax to the largest magnitude among its values.
void find_amax(const Piece& piece, std::span<const float> values, float* amax);

/// Encodes each group's amax as its scale for the wire, scales_bytes() in all. A tensor scale also
/// covers the amax `elsewhere`.
void encode_scales(const BlockFormat& format, std::span<const float> amax, float elsewhere,
                   std::byte* bytes);
/// Decodes scales.size() scales.
void decode_scales(const BlockFormat& format, const std::byte* bytes, std::span<float> scales);

/// Encodes and packs values.
void quantize(const Piece& piece, std::span<const float> values, std::byte* payload);
/// Unpacks and decodes values.
void dequantize(const Piece& piece, const std::byte* payload, std::span<float> values);

/// Computes sums = local + decoded codes; `sums` may be `local`, but must not overlap it partially.
/// Then raises amax by the sums, unless it is null.
void dequantize_add(const Piece& piece, const std::byte* payload, const float* local,
                    std::span<float> sums, float* amax);

/// Equals quantize() followed by count() of the same values, in one pass if that is faster.
QuantizeCounts quantize_and_count(const Piece& piece, std::span<const float> values,
                                  std::byte* payload);

/// Counts the effects of quantize() on the values.
QuantizeCounts count(const Piece& piece, std::span<const float> values);

/// Rounds to bfloat16, ties to even.
void encode_bf16(std::span<const float> values, std::uint16_t* codes);
/// Decodes bfloat16.
void decode_bf16(const std::uint16_t* codes, std::span<float> values);
/// Equals encode_bf16() followed by decode_bf16(), in place.
void round_to_bf16(std::span<float> values);

}  // namespace equarx::numerics::kernels
