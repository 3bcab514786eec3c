#include "models/workloads/cast_work.hpp"

#include <cmath>
#include <stdexcept>

#include "models/workloads/vector_work.hpp"

namespace equarx::workloads {
namespace {

using numerics::ElementFormat;
using stored::Along;
using stored::ElementKind;
using stored::RangeRule;
using stored::StoredFormat;

constexpr int kByteBits = 8;

/// Wire format with the same steps of encoding and decoding.
ElementFormat like(const stored::Elements& elements) {
  const bool fills_byte = elements.bits == kByteBits;
  if (elements.kind == ElementKind::integer)
    return fills_byte ? ElementFormat::int8 : ElementFormat::int4;
  return fills_byte ? ElementFormat::fp8_e4m3 : ElementFormat::fp4_e2m1;
}

/// True if a scale depends on elements that the cast of a tile does not have.
bool exceeds_tile(const StoredFormat& format) {
  const stored::Groups& groups = format.groups;
  switch (groups.along) {
    case Along::row:
    case Along::block: return format.scale.of_tensor;
    case Along::tensor: return format.scale.of_tensor || groups.length == 0;
    case Along::column:
    case Along::strided: break;
  }
  return true;
}

/// Operations to find the range of a group, per element.
double range_ops(const StoredFormat& format) {
  constexpr double kError = 3.0;  // subtract, power, add up
  switch (format.scale.rule) {
    case RangeRule::given: return 0.0;
    case RangeRule::search:
      return kRange + format.scale.steps * (kMultiply + encode_ops(format.elements) + kError);
    case RangeRule::abs_max:
    case RangeRule::min_max:
    case RangeRule::power_of_two_up:
    case RangeRule::power_of_two_down:
    case RangeRule::quantile: break;
  }
  return kRange;
}

}  // namespace

double encode_ops(const stored::Elements& elements) {
  constexpr double kPack = 1.0;
  constexpr double kHalve = 2.0;  // compare, select
  if (elements.kind == ElementKind::table) return elements.bits * kHalve + kPack;
  return numerics::encode_operations(like(elements));
}

double decode_ops(const stored::Elements& elements) {
  constexpr double kUnpackAndLookUp = 3.0;  // shift, mask, table
  const bool is_table =
      elements.kind == ElementKind::table || elements.kind == ElementKind::k_means;
  return is_table ? kUnpackAndLookUp : numerics::decode_operations(like(elements));
}

CastWork cast_work(const StoredFormat& format, double row) {
  if (format.elements.kind == ElementKind::k_means)
    throw std::invalid_argument(
        "activations with fitted tables are not timed; use integers, minifloats or a given table");
  if (format.apart.largest > 0.0 || format.apart.important > 0.0)
    throw std::invalid_argument("activations with values apart are not timed; remove \"apart\"");
  CastWork work{.vector_ops = kMultiply + encode_ops(format.elements)};
  if (format.scale.rule == RangeRule::quantile) work.comparisons = std::log2(row);
  const bool has_pass = exceeds_tile(format) && format.scale.rule != RangeRule::given;
  if (has_pass) work.pass_ops = kFromBf16 + range_ops(format);
  if (!has_pass || format.scale.of_tensor) work.vector_ops += range_ops(format);
  return work;
}

}  // namespace equarx::workloads
