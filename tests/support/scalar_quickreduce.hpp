// QuickReduce's codecs one element at a time: the oracle of their vector kernels, for any bits.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <stdexcept>
#include <vector>

#include "models/numerics/codec/rule_codec.hpp"
#include "models/numerics/elements/bit_packing.hpp"
#include "models/numerics/elements/float16.hpp"
#include "models/numerics/elements/minifloat.hpp"

namespace equarx::testing::scalar_quickreduce {

using namespace numerics;

inline constexpr float kEpsilon = 0x1p-24F;
inline constexpr float kLargestFp16 = 65504.0F;
/// Stands for a signed zero among extrema, where plain 0 marks an empty group. Becomes 0 in FP16.
inline constexpr float kZeroSeen = std::numeric_limits<float>::denorm_min();
inline constexpr float kOneOver240 = 0x1.11p-8F;  // nearest FP16 number

/// Rounds a result to FP16; finite values stay finite. Rounding an FP32 sum, product or quotient of
/// two FP16 numbers once more is exact, because FP32 has at least 2 p + 2 bits (Figueroa, "When is
/// double rounding innocuous?").
inline float to_fp16(float value) {
  const float size = std::abs(value);
  const bool saturates = size > kLargestFp16 && size <= std::numeric_limits<float>::max();
  return round_to_fp16(std::copysign(saturates ? kLargestFp16 : size, value));
}

inline std::size_t group_of(std::size_t element) {
  constexpr std::size_t kRun = 2 * kQuickReduceBlock;
  return element / kRun * 2 + element % 2;
}

inline float encoding_scale(float scale) { return to_fp16(1.0F / to_fp16(scale + kEpsilon)); }

/// Integers with codes from -kCodes to kCodes - 1.
template <int kCodes>
struct Integer {
  static constexpr int kBits = kCodes == 128 ? 8 : kCodes == 32 ? 6 : 4;

  static float scale(float extremum) { return to_fp16(extremum * (-1.0F / kCodes)); }
  /// NaN becomes the lowest code, as it fails the first comparison.
  static float clamp(float scaled) {
    const float above = scaled > -kCodes ? scaled : static_cast<float>(-kCodes);
    return above < kCodes - 1 ? above : static_cast<float>(kCodes - 1);
  }
  static std::uint8_t encode(float scaled) {
    constexpr float kWhole = 0x1.8p23F;  // adding it rounds to integers, ties to even
    return static_cast<std::uint8_t>(static_cast<int>((clamp(scaled) + kWhole) - kWhole));
  }
  static float decode(std::uint8_t code) { return static_cast<std::int8_t>(code); }
  /// True if the value lies beyond the codes even after rounding. Half a step below the lowest code
  /// is a tie that rounds to it; half a step above the highest is not.
  static bool clips(float scaled) { return scaled < -kCodes - 0.5F || scaled >= kCodes - 0.5F; }
};

struct Float8 {
  static constexpr int kBits = 8;

  static float scale(float extremum) { return to_fp16(std::abs(extremum) * kOneOver240); }
  static std::uint8_t encode(float scaled) { return Fp8E4m3Fnuz::encode(scaled); }
  static float decode(std::uint8_t code) { return Fp8E4m3Fnuz::decode(code); }
  static bool clips(float scaled) { return std::abs(scaled) > 248.0F; }  // half a step above 240
};

/// Elements packed at once: whole bytes for any width.
inline constexpr std::size_t kPiece = 256;
using Codes = std::array<std::byte, kPiece>;
using Piece = std::array<float, kPiece>;

template <int kBits>
void pack(const Codes& codes, std::size_t count, std::byte* packed) {
  if constexpr (kBits == 8)
    std::memcpy(packed, codes.data(), count);
  else
    pack_codes<kBits>(codes.data(), count, packed);
}

template <int kBits>
void unpack(const std::byte* packed, std::size_t count, Codes& codes) {
  if constexpr (kBits == 8)
    std::memcpy(codes.data(), packed, count);
  else
    unpack_codes<kBits, true>(packed, count, codes.data());
}

/// Calls `visit(begin, count)` for each piece of `elements` elements.
template <typename Visit>
void for_each_piece(std::size_t elements, Visit visit) {
  for (std::size_t begin = 0; begin < elements; begin += kPiece)
    visit(begin, std::min(kPiece, elements - begin));
}

/// Expands values per group to values per element of a piece.
inline Piece of_elements(std::span<const float> of_groups, std::size_t first, std::size_t count) {
  Piece all{};
  for (std::size_t i = 0; i < count; ++i) all[i] = of_groups[group_of(first + i)];
  return all;
}

/// Returns the encoding factor of each group.
inline std::vector<float> encoding_scales(std::span<const float> scales) {
  std::vector<float> all(scales.size());
  std::ranges::transform(scales, all.begin(), encoding_scale);
  return all;
}

/// Multiplies the values of a piece by their factors, in FP16.
inline Piece scaled_values(std::span<const float> values, const Piece& factors) {
  Piece scaled;
  for (std::size_t i = 0; i < values.size(); ++i)
    scaled[i] = to_fp16(round_to_fp16(values[i]) * factors[i]);
  return scaled;
}

/// Encodes the scaled values of a piece.
template <typename Element>
Codes encoded_values(const Piece& scaled, std::size_t count) {
  Codes codes;
  for (std::size_t i = 0; i < count; ++i) codes[i] = std::byte{Element::encode(scaled[i])};
  return codes;
}

/// Decodes the codes of a piece.
template <typename Element>
Piece decoded_values(const Codes& codes, std::size_t count, const Piece& scales) {
  Piece decoded;
  for (std::size_t i = 0; i < count; ++i)
    decoded[i] = Element::decode(std::to_integer<std::uint8_t>(codes[i]));
  for (std::size_t i = 0; i < count; ++i) decoded[i] = to_fp16(decoded[i] * scales[i]);
  return decoded;
}

/// Calls `take(begin, count, values)` for each decoded piece.
template <typename Element, typename Take>
void decode_all(const std::byte* payload, const ScaledPiece& whole, std::size_t elements,
                Take take) {
  for_each_piece(elements, [&](std::size_t begin, std::size_t count) {
    Codes codes;
    unpack<Element::kBits>(payload + begin * Element::kBits / 8, count, codes);
    const Piece scales = of_elements(whole.scales, whole.first + begin, count);
    take(begin, count, decoded_values<Element>(codes, count, scales));
  });
}

template <typename Element>
class QuickReduce final : public RuleCodec {
 public:
  void find_amax(std::span<const float> values, std::size_t first,
                 std::span<float> extrema) const override {
    for (std::size_t i = 0; i < values.size(); ++i) {
      const float value = round_to_fp16(values[i]);
      float& extremum = extrema[group_of(first + i)];
      if (std::isnan(value)) {
        if (extremum == 0.0F) extremum = value;
        continue;
      }
      const float seen = value == 0.0F ? std::copysign(kZeroSeen, value) : value;
      const float size = std::abs(seen);
      const float largest = std::isnan(extremum) ? 0.0F : std::abs(extremum);
      if (size > largest || (size == largest && std::signbit(seen))) extremum = seen;
    }
  }

  void encode_scales(std::span<const float> extrema, float /*elsewhere*/,
                     std::span<std::byte> bytes) const override {
    for (std::size_t i = 0; i < extrema.size(); ++i) {
      const std::uint16_t code = fp16_from_float(Element::scale(round_to_fp16(extrema[i])));
      std::memcpy(&bytes[i * sizeof code], &code, sizeof code);
    }
  }

  void decode_scales(std::span<const std::byte> bytes, std::span<float> scales) const override {
    for (std::size_t i = 0; i < scales.size(); ++i) {
      std::uint16_t code = 0;
      std::memcpy(&code, &bytes[i * sizeof code], sizeof code);
      scales[i] = float_from_fp16(code);
    }
  }

  void quantize(const ScaledPiece& piece, std::span<const float> values,
                std::span<std::byte> payload) const override {
    const std::vector<float> factors = encoding_scales(piece.scales);
    for_each_piece(values.size(), [&](std::size_t begin, std::size_t count) {
      const Piece scaled = scaled_values(values.subspan(begin, count),
                                         of_elements(factors, piece.first + begin, count));
      pack<Element::kBits>(encoded_values<Element>(scaled, count), count,
                           payload.data() + begin * Element::kBits / 8);
    });
  }

  void dequantize(const ScaledPiece& piece, std::span<const std::byte> payload,
                  std::span<float> values) const override {
    decode_all<Element>(payload.data(), piece, values.size(),
                        [&](std::size_t begin, std::size_t count, const Piece& decoded) {
                          std::copy_n(decoded.begin(), count, &values[begin]);
                        });
  }

  void dequantize_add(const ScaledPiece& piece, std::span<const std::byte> payload,
                      std::span<const float> local, std::span<float> sums,
                      std::span<float> extrema) const override {
    decode_all<Element>(payload.data(), piece, sums.size(),
                        [&](std::size_t begin, std::size_t count, const Piece& decoded) {
                          for (std::size_t i = 0; i < count; ++i)
                            sums[begin + i] = to_fp16(round_to_fp16(local[begin + i]) + decoded[i]);
                        });
    if (!extrema.empty()) find_amax(sums, piece.first, extrema);
  }

  QuantizeCounts count(const ScaledPiece& piece, std::span<const float> values) const override {
    QuantizeCounts counts{.elements = values.size()};
    const std::vector<float> factors = encoding_scales(piece.scales);
    for_each_piece(values.size(), [&](std::size_t begin, std::size_t count) {
      const std::size_t first = piece.first + begin;
      const std::span<const float> part = values.subspan(begin, count);
      const Piece scaled = scaled_values(part, of_elements(factors, first, count));
      const Piece decoded = decoded_values<Element>(encoded_values<Element>(scaled, count), count,
                                                    of_elements(piece.scales, first, count));
      for (std::size_t i = 0; i < count; ++i) {
        const float value = round_to_fp16(part[i]);
        counts.clipped += std::isfinite(value) && Element::clips(scaled[i]) ? 1 : 0;
        counts.flushed += value != 0.0F && decoded[i] == 0.0F ? 1 : 0;
        counts.non_finite += std::isfinite(decoded[i]) ? 0 : 1;
      }
    });
    return counts;
  }
};

/// The codec of a published format.
inline std::unique_ptr<const RuleCodec> make(const BlockFormat& format) {
  switch (format.element) {
    case ElementFormat::int8: return std::make_unique<const QuickReduce<Integer<128>>>();
    case ElementFormat::int6: return std::make_unique<const QuickReduce<Integer<32>>>();
    case ElementFormat::int4: return std::make_unique<const QuickReduce<Integer<8>>>();
    case ElementFormat::fp8_e4m3fnuz: return std::make_unique<const QuickReduce<Float8>>();
    default: throw std::logic_error("not an element of QuickReduce");
  }
}

}  // namespace equarx::testing::scalar_quickreduce
