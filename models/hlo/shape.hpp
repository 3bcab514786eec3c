// Shapes of HLO's values: an array, or a tuple of shapes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace equarx::hlo {

/// Bits of an element of a type of HLO, like "bf16"; 0 of a type that is not known, and of those that hold no numbers
/// ("token", "opaque").
std::uint32_t type_bits(std::string_view type);

/// Whether a type is one of HLO's, whatever its size.
bool is_known_type(std::string_view type);

/// Where an array lies, as its layout says by "S(5)".
enum class MemorySpace : std::uint8_t {
  device,  ///< the chip's HBM; no S(), or S(0)
  fast,    ///< S(1): on a TPU memory within the chip, which takes no HBM
  host,    ///< S(5): memory of the host
  other,   ///< any other number: semaphores and scalar memory, which take no HBM
};

/// An array, or a tuple.
struct Shape {
  bool is_tuple = false;
  std::string type;                   ///< of an array: "f32"
  std::vector<std::int64_t> lengths;  ///< of an array, from the slowest dimension; none: a scalar
  MemorySpace space = MemorySpace::device;
  std::vector<Shape> parts;  ///< of a tuple

  /// Of an array; 0 of a tuple. A double, since products of 64-bit lengths may be larger than any integer.
  double elements() const;
  /// Of an array or of all parts, without what a layout pads.
  double bytes() const;
  /// The same of the arrays in one space.
  double bytes_in(MemorySpace where) const;
};

/// The shape as HLO writes it, without layout: "(f32[2,3], s32[])".
std::string text_of(const Shape& shape);

}  // namespace equarx::hlo
