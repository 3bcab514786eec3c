// Binary floating-point types of tensors and elements.
#pragma once

#include <optional>

#include "models/formats/block_format.hpp"

namespace equarx::numerics {

/// Parameters of a floating-point type.
struct FloatType {
  int fraction_bits = 0;      ///< explicit bits of the significand
  int smallest_exponent = 0;  ///< of normal values
  float largest = 0.0F;       ///< finite value
};

/// IEEE 754; OCP 8-bit Floating Point Specification (OFP8) 1.0, table 1; arXiv 2206.02915 (FNUZ).
/// std::nullopt for types that are not floating point.
constexpr std::optional<FloatType> float_type(ElementFormat type) {
  switch (type) {
    case ElementFormat::fp32: return FloatType{23, -126, 0x1.fffffep127F};
    case ElementFormat::bf16: return FloatType{7, -126, 0x1.fep127F};
    case ElementFormat::fp16: return FloatType{10, -14, 65504.0F};
    case ElementFormat::fp8_e4m3: return FloatType{3, -6, 448.0F};
    case ElementFormat::fp8_e5m2: return FloatType{2, -14, 57344.0F};
    case ElementFormat::fp8_e4m3fnuz: return FloatType{3, -7, 240.0F};
    case ElementFormat::fp8_e5m2fnuz: return FloatType{2, -15, 57344.0F};
    default: return std::nullopt;
  }
}

}  // namespace equarx::numerics
