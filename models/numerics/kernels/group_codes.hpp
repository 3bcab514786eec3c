// Codes of stored formats, whose groups are consecutive values with a scale each. Compiled for every
// instruction set and dispatched at run time, with the same bits: IEEE operations, no fused
// multiply-add. A code fills a byte here; pack_halves() and unpack_halves() pack two.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace equarx::numerics::kernels {

/// Consecutive groups of `length` values; the last one may be shorter.
struct ValueGroups {
  std::span<const float> values;
  std::size_t length;

  std::size_t count() const { return (values.size() + length - 1) / length; }
};

/// Largest magnitude of each group; a NaN or Inf counts as larger than all numbers.
void find_magnitudes(const ValueGroups& groups, float* largest);
/// Least and largest value of each group, of any sign of zero. Returns false if a value is NaN or
/// Inf; its group's range is then undefined.
bool find_ranges(const ValueGroups& groups, float* low, float* high);

/// Zero points of the groups.
enum class Origin : std::uint8_t {
  none,
  code,  ///< value = (code - zero point) * scale
  value  ///< value = code * scale + zero point
};

/// Integer codes `lowest` to `highest`.
struct IntegerCodes {
  std::int32_t lowest;
  std::int32_t highest;
  Origin origin;
};

/// Code = x / scale (with Origin::value: (x - zero point) / scale), clamped to +-1024 and rounded to
/// nearest even, plus a zero point of Origin::code, clamped to the codes; negative codes in two's
/// complement. `zero_points` is null for Origin::none.
void encode_integers(const ValueGroups& groups, const float* scales, const float* zero_points,
                     IntegerCodes rule, std::uint8_t* codes);

/// Ascending thresholds between codes; a code is the number of thresholds below a value.
struct Thresholds {
  explicit Thresholds(std::span<const float> ascending);  ///< at most 255

  std::array<float, 256> values;  ///< filled with Inf
  int bits;                       ///< 2^bits - 1 thresholds suffice
  std::uint8_t sign = 0;  ///< else: applies to magnitudes, and negative values have this bit
};

/// Code = thresholds below x / scale.
void encode_ranks(const ValueGroups& groups, const float* scales, const Thresholds& thresholds,
                  std::uint8_t* codes);

/// Values of codes in units of the scale.
struct CodeTable {
  std::array<float, 256> values;
  bool small;  ///< codes below 16
  Origin origin;
};
/// Values of codes of at most 4 or 8 bits, in groups of `length`. `zero_points` is null for
/// Origin::none.
void decode_codes(const std::uint8_t* codes, std::size_t length, const float* scales,
                  const float* zero_points, const CodeTable& table, std::span<float> values);

/// Packs the low halves of codes, the first in the low half of a byte.
void pack_halves(std::span<const std::uint8_t> codes, std::byte* packed);
/// Inverse of pack_halves().
void unpack_halves(const std::byte* packed, std::span<std::uint8_t> codes);

}  // namespace equarx::numerics::kernels
