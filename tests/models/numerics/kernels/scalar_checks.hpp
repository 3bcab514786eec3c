// A codec by kernels compared with a scalar one, bit for bit.
#pragma once

#include <random>

#include "models/numerics/codec/rule_codec.hpp"
#include "tests/models/numerics/codec/codecs.hpp"

namespace equarx::numerics::scalar_checks {

/// Values of a piece that starts `first` elements into its minishard.
struct DrawnPiece {
  std::size_t first;
  Floats values;
  Floats local;  ///< of the receiver
};

inline DrawnPiece drawn(Kind kind, std::size_t first, std::size_t count, std::mt19937& random) {
  DrawnPiece piece{first, draw_many(kind, count, random), {}};
  piece.local = draw_many(random() % 2 == 0 ? kind : Kind::normal, count, random);
  return piece;
}

/// Scales of a minishard that ends with the piece.
struct Scales {
  Floats amax, values;
  Bytes wire;
};

inline Scales scales_of(const BlockFormat& format, const RuleCodec& codec,
                        const DrawnPiece& piece) {
  Scales scales;
  scales.amax.resize(scale_count(format, piece.first + piece.values.size()));
  scales.values.resize(scales.amax.size());
  scales.wire.resize(scales_bytes(format, scales.amax.size()));
  codec.find_amax(piece.values, piece.first, scales.amax);
  codec.encode_scales(scales.amax, 0.0F, scales.wire);
  codec.decode_scales(scales.wire, scales.values);
  return scales;
}

inline void check_sums(const RuleCodec& fast, const RuleCodec& slow, const ScaledPiece& scaled,
                       const DrawnPiece& piece, const Bytes& payload) {
  Floats expected(piece.values.size());
  Floats amax(scaled.scales.size());
  Floats again = amax;
  slow.dequantize_add(scaled, payload, piece.local, expected, amax);
  Floats sums = piece.local;  // in place
  fast.dequantize_add(scaled, payload, sums, sums, again);
  REQUIRE(same(sums, expected));
  REQUIRE(same(again, amax));
  Floats apart(sums.size());
  fast.dequantize_add(scaled, payload, piece.local, apart, {});
  REQUIRE(same(apart, expected));
}

/// Compares all functions of the codec of a format with `slow`.
inline void check_piece(const BlockFormat& format, const RuleCodec& slow, const DrawnPiece& piece) {
  const auto fast = make_rule_codec(format);
  const std::size_t count = piece.values.size();
  const Scales scales = scales_of(format, *fast, piece);
  const Scales slow_scales = scales_of(format, slow, piece);
  REQUIRE(same(scales.amax, slow_scales.amax));
  REQUIRE(same(scales.values, slow_scales.values));
  const ScaledPiece scaled{piece.first, scales.values, {7, 3, 5, 1000 + piece.first}};
  Bytes payload(payload_bytes(format, count), std::byte{0x55});
  Bytes slow_payload(payload.size(), std::byte{0xaa});
  fast->quantize(scaled, piece.values, payload);
  slow.quantize(scaled, piece.values, slow_payload);
  REQUIRE(payload == slow_payload);
  const QuantizeCounts counts = slow.count(scaled, piece.values);
  REQUIRE(fast->count(scaled, piece.values) == counts);
  std::ranges::fill(payload, std::byte{0x33});
  REQUIRE(fast->quantize_and_count(scaled, piece.values, payload) == counts);
  REQUIRE(payload == slow_payload);
  Floats values(count);
  Floats slow_values(count);
  fast->dequantize(scaled, payload, values);
  slow.dequantize(scaled, payload, slow_values);
  REQUIRE(same(values, slow_values));
  check_sums(*fast, slow, scaled, piece, payload);
}

}  // namespace equarx::numerics::scalar_checks
