// Vector unit cost of number formats.
//
// ALU operations per element on FP32-only lanes, as on TPU v5e. Counted by hand from the obvious
// instruction sequence, so each is an assumption, accurate to perhaps a factor of two. Special
// handling of NaN, Inf and -0 is not counted, nor are scales, one for many elements; every
// ScaleRounding takes one integer addition, shift and clamp. Low sensitivity: at large sizes core time is hidden
// by the wire time (docs/model.md).
#pragma once

#include <stdexcept>

#include "models/formats/block_format.hpp"

namespace equarx::numerics {

/// ALU operations to decode one stored element to FP32.
constexpr double decode_operations(ElementFormat format) {
  switch (format) {
    case ElementFormat::fp32: return 0.0;
    case ElementFormat::bf16: return 1.0;  // shift into the upper half
    case ElementFormat::int8:
    case ElementFormat::mxint8: return 2.0;  // unpack, convert
    case ElementFormat::int6:
    case ElementFormat::int4: return 3.0;  // unpack, extend the sign, convert
    case ElementFormat::fp16:
    case ElementFormat::fp8_e4m3:  // unpack, sign, shift, scale the exponent
    case ElementFormat::fp8_e5m2:
    case ElementFormat::fp8_e4m3fnuz:
    case ElementFormat::fp8_e5m2fnuz: return 4.0;
    case ElementFormat::exp8:      // unpack, sign, subtract from the bias, shift, select 0
    case ElementFormat::fp6_e2m3:  // as FP8, across byte boundaries
    case ElementFormat::fp6_e3m2:
    case ElementFormat::fp4_e2m1: return 5.0;
  }
  throw std::logic_error("unknown element format");
}

/// ALU operations to encode one FP32 value.
constexpr double encode_operations(ElementFormat format) {
  switch (format) {
    case ElementFormat::fp32: return 0.0;
    case ElementFormat::bf16: return 2.0;  // add the rounding term, pack
    case ElementFormat::int8:
    case ElementFormat::mxint8: return 4.0;  // round and convert, clamp twice, pack
    case ElementFormat::int6:
    // The same, plus packing several codes into one or three bytes.
    case ElementFormat::int4: return 5.0;
    case ElementFormat::fp16:
    case ElementFormat::fp8_e4m3:  // sign, scale the exponent, round, shift, clamp, pack
    case ElementFormat::fp8_e5m2:
    case ElementFormat::fp8_e4m3fnuz:
    case ElementFormat::fp8_e5m2fnuz: return 6.0;
    case ElementFormat::fp6_e2m3:  // the same, across byte boundaries
    case ElementFormat::fp6_e3m2:
    case ElementFormat::fp4_e2m1: return 7.0;
    case ElementFormat::exp8:  // stochastic rounding:
      // Draw; mantissa, compare; exponent, step, clamp; sign twice, select 0 twice; pack.
      return 11.0;
  }
  throw std::logic_error("unknown element format");
}

/// ALU operations to decode an element of a format, without the multiplication by a scale.
constexpr double decode_operations(const BlockFormat& format) {
  return format.rule == ScaleRule::own ? format.own.decode_operations
                                       : decode_operations(format.element);
}

/// ALU operations to encode a value in a format, without the multiplication by a scale.
constexpr double encode_operations(const BlockFormat& format) {
  return format.rule == ScaleRule::own ? format.own.encode_operations
                                       : encode_operations(format.element);
}

/// ALU operations to add two stored exp8 elements stochastically, in integer arithmetic:
/// - per operand: unpack, sign, exponent, and 0 mapped below all others: compare, select (5
///   each);
/// - larger operand and exponent distance: min, max, subtract (3);
/// - differing signs, which count as one step of distance: xor, shift, subtract (3);
/// - decision to step: draw, shift by the distance, compare, suppressed if an operand is 0:
///   compare, and (5);
/// - one step up or down: select, add (2); equal operands of opposite sign give 0: compare, and,
///   select (3);
/// - sign of the larger: compare, select (2); combine and pack (3).
inline constexpr double kExp8SumOperations = 31.0;

}  // namespace equarx::numerics
