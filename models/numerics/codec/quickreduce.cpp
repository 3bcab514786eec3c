#include "models/numerics/codec/quickreduce.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <vector>

#include "models/numerics/elements/bit_packing.hpp"
#include "models/numerics/elements/float16.hpp"
#include "models/numerics/elements/minifloat.hpp"

namespace equarx::numerics::quickreduce {
namespace {

constexpr float kEpsilon = 0x1p-24F;
constexpr float kLargestFp16 = 65504.0F;
/// Stands for a signed zero among extrema, where plain 0 marks an empty group. Becomes 0 in FP16.
constexpr float kZeroSeen = std::numeric_limits<float>::denorm_min();
constexpr float kOneOver240 = 0x1.11p-8F;  // nearest FP16 number

/// Rounds a result to FP16; finite values stay finite. Rounding an FP32 sum, product or quotient of
/// two FP16 numbers once more is exact, because FP32 has at least 2 p + 2 bits (Figueroa, "When is
/// double rounding innocuous?").
float to_fp16(float value) {
  const float size = std::abs(value);
  const bool saturates = size > kLargestFp16 && size <= std::numeric_limits<float>::max();
  return round_to_fp16(std::copysign(saturates ? kLargestFp16 : size, value));
}

std::size_t group_of(std::size_t element) {
  constexpr std::size_t kRun = 2 * kQuickReduceBlock;
  return element / kRun * 2 + element % 2;
}

float encoding_scale(float scale) { return to_fp16(1.0F / to_fp16(scale + kEpsilon)); }

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

template <typename Act>
auto with_codec(ElementFormat element, Act act) {
  switch (element) {
    case ElementFormat::int8: return act(Integer<128>{});
    case ElementFormat::int6: return act(Integer<32>{});
    case ElementFormat::int4: return act(Integer<8>{});
    case ElementFormat::fp8_e4m3fnuz: return act(Float8{});
    default: throw std::logic_error("QuickReduce has no codec for this element");
  }
}

/// Elements packed at once: whole bytes for any width.
constexpr std::size_t kPiece = 256;
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
Piece of_elements(std::span<const float> of_groups, std::size_t first, std::size_t count) {
  Piece all{};
  for (std::size_t i = 0; i < count; ++i) all[i] = of_groups[group_of(first + i)];
  return all;
}

/// Returns the encoding factor of each group.
std::vector<float> encoding_scales(std::span<const float> scales) {
  std::vector<float> all(scales.size());
  std::ranges::transform(scales, all.begin(), encoding_scale);
  return all;
}

/// Multiplies the values of a piece by their factors, in FP16.
Piece scaled_values(std::span<const float> values, const Piece& factors) {
  Piece scaled;
  for (std::size_t i = 0; i < values.size(); ++i)
    scaled[i] = to_fp16(round_to_fp16(values[i]) * factors[i]);
  return scaled;
}

/// Decodes the codes of a piece.
template <typename Codec>
Piece decoded_values(const Codes& codes, std::size_t count, const Piece& scales) {
  Piece decoded;
  for (std::size_t i = 0; i < count; ++i)
    decoded[i] = Codec::decode(std::to_integer<std::uint8_t>(codes[i]));
  for (std::size_t i = 0; i < count; ++i) decoded[i] = to_fp16(decoded[i] * scales[i]);
  return decoded;
}

/// Calls `take(begin, count, values)` for each decoded piece.
template <typename Codec, typename Take>
void decode_all(const std::byte* payload, std::size_t first, std::size_t elements,
                std::span<const float> scales, Take take) {
  for_each_piece(elements, [&](std::size_t begin, std::size_t count) {
    Codes codes;
    unpack<Codec::kBits>(payload + begin * Codec::kBits / 8, count, codes);
    take(begin, count,
         decoded_values<Codec>(codes, count, of_elements(scales, first + begin, count)));
  });
}

}  // namespace

void find_extrema(std::span<const float> values, std::size_t first, std::span<float> extrema) {
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

void encode_scales(ElementFormat element, std::span<const float> extrema,
                   std::span<std::byte> bytes) {
  with_codec(element, [&](auto codec) {
    for (std::size_t i = 0; i < extrema.size(); ++i) {
      const std::uint16_t code = fp16_from_float(codec.scale(round_to_fp16(extrema[i])));
      std::memcpy(&bytes[i * sizeof code], &code, sizeof code);
    }
  });
}

void decode_scales(std::span<const std::byte> bytes, std::span<float> scales) {
  for (std::size_t i = 0; i < scales.size(); ++i) {
    std::uint16_t code = 0;
    std::memcpy(&code, &bytes[i * sizeof code], sizeof code);
    scales[i] = float_from_fp16(code);
  }
}

void quantize(ElementFormat element, std::span<const float> values, std::size_t first,
              std::span<const float> scales, std::span<std::byte> payload) {
  const std::vector<float> factors = encoding_scales(scales);
  with_codec(element, [&](auto codec) {
    for_each_piece(values.size(), [&](std::size_t begin, std::size_t count) {
      const Piece scaled =
          scaled_values(values.subspan(begin, count), of_elements(factors, first + begin, count));
      Codes codes;
      for (std::size_t i = 0; i < count; ++i) codes[i] = std::byte{codec.encode(scaled[i])};
      pack<decltype(codec)::kBits>(codes, count,
                                   payload.data() + begin * decltype(codec)::kBits / 8);
    });
  });
}

void dequantize(ElementFormat element, std::span<const std::byte> payload, std::size_t first,
                std::span<const float> scales, std::span<float> values) {
  with_codec(element, [&](auto codec) {
    decode_all<decltype(codec)>(payload.data(), first, values.size(), scales,
                                [&](std::size_t begin, std::size_t count, const Piece& decoded) {
                                  std::copy_n(decoded.begin(), count, &values[begin]);
                                });
  });
}

void dequantize_add(ElementFormat element, std::span<const std::byte> payload, std::size_t first,
                    std::span<const float> scales, std::span<const float> local,
                    std::span<float> sums) {
  with_codec(element, [&](auto codec) {
    decode_all<decltype(codec)>(payload.data(), first, sums.size(), scales,
                                [&](std::size_t begin, std::size_t count, const Piece& decoded) {
                                  for (std::size_t i = 0; i < count; ++i)
                                    sums[begin + i] =
                                        to_fp16(round_to_fp16(local[begin + i]) + decoded[i]);
                                });
  });
}

QuantizeCounts count(ElementFormat element, std::span<const float> values, std::size_t first,
                     std::span<const float> scales) {
  QuantizeCounts counts{.elements = values.size()};
  const std::vector<float> factors = encoding_scales(scales);
  with_codec(element, [&](auto codec) {
    for_each_piece(values.size(), [&](std::size_t begin, std::size_t count) {
      const std::span<const float> piece = values.subspan(begin, count);
      const Piece scaled = scaled_values(piece, of_elements(factors, first + begin, count));
      Codes codes;
      for (std::size_t i = 0; i < count; ++i) codes[i] = std::byte{codec.encode(scaled[i])};
      const Piece decoded =
          decoded_values<decltype(codec)>(codes, count, of_elements(scales, first + begin, count));
      for (std::size_t i = 0; i < count; ++i) {
        const float value = round_to_fp16(piece[i]);
        counts.clipped += std::isfinite(value) && codec.clips(scaled[i]) ? 1 : 0;
        counts.flushed += value != 0.0F && decoded[i] == 0.0F ? 1 : 0;
        counts.non_finite += std::isfinite(decoded[i]) ? 0 : 1;
      }
    });
  });
  return counts;
}

}  // namespace equarx::numerics::quickreduce
