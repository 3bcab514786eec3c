// Shapes of HLO values: arrays and tuples of shapes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace equarx::hlo {

/// Bits per element of an HLO type such as "bf16"; 0 for unknown types and types without numeric
/// values ("token", "opaque").
std::uint32_t type_bits(std::string_view type);

/// True if `type` is an HLO type, whatever its size.
bool is_known_type(std::string_view type);

/// Memory space of an array, from "S(n)" of its layout.
enum class MemorySpace : std::uint8_t {
  device,  ///< HBM; no S(), or S(0)
  fast,    ///< S(1): on-chip memory of a TPU, which takes no HBM
  host,    ///< S(5): host memory
  other,   ///< any other number: semaphores and scalar memory, which take no HBM
};

/// An array, or a tuple.
struct Shape {
  bool is_tuple = false;
  std::string type;                   ///< element type of an array: "f32"
  std::vector<std::int64_t> lengths;  ///< dimensions of an array, slowest first; empty for a scalar
  MemorySpace space = MemorySpace::device;
  std::vector<Shape> parts;  ///< elements of a tuple

  /// Number of elements of an array; 0 for a tuple. A double, because products of 64-bit lengths
  /// can exceed any integer type.
  double elements() const;
  /// Bytes of an array or of all tuple elements, without layout padding.
  double bytes() const;
  /// Bytes of the arrays in one memory space.
  double bytes_in(MemorySpace where) const;
};

/// HLO text of the shape, without layout: "(f32[2,3], s32[])".
std::string text_of(const Shape& shape);

}  // namespace equarx::hlo
