// What a format costs a vector unit.
//
// ALU operations per element on lanes that calculate in FP32 only, as those of TPU v5e do. Counted by
// hand from the obvious instruction sequence, so each is an assumption, good to perhaps a factor of two.
// What is special about NaN, Inf and -0 is not counted. They matter little: at large sizes core time
// hides behind the wire (docs/model.md).
#pragma once

#include <stdexcept>

#include "models/formats/block_format.hpp"

namespace equarx::numerics {

/// ALU operations to make FP32 of one stored element.
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
    case ElementFormat::exp8:      // unpack, sign, subtract from the bias, shift, choose 0
    case ElementFormat::fp6_e2m3:  // as FP8, over byte borders
    case ElementFormat::fp6_e3m2:
    case ElementFormat::fp4_e2m1: return 5.0;
  }
  throw std::logic_error("unknown element format");
}

/// ALU operations to make a stored element of one in FP32.
constexpr double encode_operations(ElementFormat format) {
  switch (format) {
    case ElementFormat::fp32: return 0.0;
    case ElementFormat::bf16: return 2.0;  // add the rounding term, pack
    case ElementFormat::int8:
    case ElementFormat::mxint8: return 4.0;  // round and convert, clamp twice, pack
    case ElementFormat::int6:
    case ElementFormat::int4: return 5.0;  // the same, and several codes to a byte or three
    case ElementFormat::fp16:
    case ElementFormat::fp8_e4m3:  // sign, scale the exponent, round, shift, clamp, pack
    case ElementFormat::fp8_e5m2:
    case ElementFormat::fp8_e4m3fnuz:
    case ElementFormat::fp8_e5m2fnuz: return 6.0;
    case ElementFormat::fp6_e2m3:  // the same, over byte borders
    case ElementFormat::fp6_e3m2:
    case ElementFormat::fp4_e2m1: return 7.0;
    case ElementFormat::exp8:  // rounded stochastically, by a random number:
      return 11.0;  // draw; mantissa, compare with it; exponent, step, clamp; sign twice, choose 0 twice; pack
  }
  throw std::logic_error("unknown element format");
}

/// ALU operations to make of two stored elements of exp8 their stochastic sum, stored: in integers, without FP32.
/// - each of the two: unpack, sign, exponent, and a 0 as if beyond all others: compare, choose (5 each);
/// - the larger of them, and how far the other is below it: smaller and larger exponent, subtract (3);
/// - whether signs differ, which counts for one step of distance: xor, shift, subtract (3);
/// - whether to step: draw, shift by the distance, compare, and not beside a 0: compare, and (5);
/// - one step up or down, choose, add (2); opposite equals are 0: compare, and, choose (3);
/// - the sign of the larger: compare, choose (2); put together and pack (3).
inline constexpr double kExp8SumOperations = 31.0;

}  // namespace equarx::numerics
