#include "models/values/sum_arithmetic.hpp"

#include <cmath>
#include <limits>
#include <optional>

#include "models/formats/float_type.hpp"
#include "models/values/make_room.hpp"
#include "models/values/tensor_source.hpp"

namespace equarx::values {
namespace {

using collectives::Overflow;
using collectives::Subnormals;
using numerics::ElementFormat;

/// Largest finite value of a type, and the smallest magnitude that rounds beyond it.
struct Limits {
  float largest = 0.0F;
  float beyond = 0.0F;     ///< halfway to the next value in an unbounded range of exponents
  bool tie_stays = false;  ///< `beyond` itself rounds to `largest`, whose last bit is even
};

/// std::nullopt for types that conversions do not limit.
std::optional<Limits> limits_of(ElementFormat type) {
  switch (type) {
    case ElementFormat::bf16:
    case ElementFormat::fp16:
    case ElementFormat::fp8_e4m3:
    case ElementFormat::fp8_e5m2: break;
    default: return std::nullopt;
  }
  const numerics::FloatType known = numerics::float_type(type).value();
  const int half_step = std::ilogb(known.largest) - known.fraction_bits - 1;
  return Limits{known.largest, known.largest + std::ldexp(1.0F, half_step),
                type == ElementFormat::fp8_e4m3};
}

/// Smallest normal magnitude of an accumulator.
float smallest_normal(ElementFormat type) {
  return std::ldexp(1.0F, numerics::float_type(type).value().smallest_exponent);
}

void flush_subnormals(ElementFormat type, std::span<float> values) {
  const float smallest = smallest_normal(type);
  for (float& value : values)
    if (std::fabs(value) < smallest) value = std::copysign(0.0F, value);
}

/// Replaces values that conversion to `type` would overflow by what `overflow` asks for, so that
/// the conversion then gives it. NaN and Inf stay. No effect for by_type, and for types other than
/// bf16, fp16 and FP8.
void limit(Overflow overflow, ElementFormat type, std::span<float> values) {
  const std::optional<Limits> limits = limits_of(type);
  if (overflow == Overflow::by_type || !limits) return;
  const float replacement =
      overflow == Overflow::saturate ? limits->largest : std::numeric_limits<float>::infinity();
  for (float& value : values) {
    const float size = std::fabs(value);
    const bool overflows = size > limits->beyond || (size == limits->beyond && !limits->tie_stays);
    if (overflows && std::isfinite(value)) value = std::copysign(replacement, value);
  }
}

}  // namespace

float largest_value(ElementFormat type) {
  const std::optional<Limits> limits = limits_of(type);
  return limits ? limits->largest : std::numeric_limits<float>::infinity();
}

void SumArithmetic::convert(const RangeTrace::Place& place, ElementFormat type,
                            std::span<float> values) {
  if (traces_) before_.assign(values.begin(), values.end());
  limit(arithmetic_.overflow, type, values);
  round_to_tensor(type, values);
  if (traces_) trace_.conversion(place, type, before_, values);
}

void SumArithmetic::to_accumulator(const RangeTrace::Place& place, std::span<float> values) {
  if (arithmetic_.subnormals == Subnormals::flush) flush_subnormals(type(), values);
  if (type() != ElementFormat::fp32) convert(place, type(), values);
}

void SumArithmetic::add_fp32(const RangeTrace::Place& place, std::span<const float> terms,
                             std::span<float> sums) {
  if (traces_) before_.assign(sums.begin(), sums.end());
  for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += terms[i];
  if (traces_) trace_.sums(place, before_, terms, sums);
}

/// Computes sums = sums + term_.
void SumArithmetic::add_term(const RangeTrace::Place& place, std::span<float> sums) {
  to_accumulator(place, term_);
  to_accumulator(place, sums);
  add_fp32(place, term_, sums);
  to_accumulator(place, sums);
}

void SumArithmetic::add(const RangeTrace::Place& place, const numerics::BlockCodec& format,
                        const EncodedTerm& term, std::span<float> sums) {
  if (is_plain())
    return format.dequantize_add(term.payload, term.in_minishard, term.scales, sums, sums);
  make_room(term_, sums.size());
  format.dequantize(term.payload, term.in_minishard, term.scales, term_);
  add_term(place, sums);
}

void SumArithmetic::add_weighted(const numerics::BlockCodec& format, const EncodedTerm& term,
                                 float weight, std::span<float> sums) {
  make_room(term_, sums.size());
  format.dequantize(term.payload, term.in_minishard, term.scales, term_);
  for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += weight * term_[i];
}

void SumArithmetic::add(const RangeTrace::Place& place, std::span<const float> terms,
                        std::span<float> sums) {
  term_.assign(terms.begin(), terms.end());
  add_term(place, sums);
}

void SumArithmetic::add_tensor(const RangeTrace::Place& place, ElementFormat type,
                               std::span<const float> terms, std::span<float> sums) {
  add_fp32(place, terms, sums);
  convert(place, type, sums);
}

void SumArithmetic::add_and_find_amax(const RangeTrace::Place& place,
                                      const numerics::BlockCodec& format, const EncodedTerm& term,
                                      std::span<float> sums, std::span<float> amax) {
  if (is_plain())
    return format.dequantize_add_amax(term.payload, term.in_minishard, term.scales, sums, sums,
                                      amax);
  add(place, format, term, sums);
  format.find_amax(sums, term.in_minishard, amax);
}

}  // namespace equarx::values
