// Schemes and matrices of tests.
#pragma once

#include <vector>

#include "models/gemm/matmul.hpp"
#include "tests/models/stored/formats.hpp"

namespace equarx::gemm::testing {

using stored::Along;
using stored::Groups;
using stored::Scale;
using stored::Shape;
using stored::StoredFormat;

inline const Scale kShifted{.rule = stored::RangeRule::min_max,
                            .zero_point = stored::ZeroPoint::rounded,
                            .with_zero = true};

inline StoredFormat integers(int bits, std::size_t group = 0, Scale scale = {}) {
  return stored::testing::integer_format(bits, {Along::row, group}, scale);
}

inline StoredFormat e4m3_format(Groups groups) {
  StoredFormat format;
  format.elements = {.kind = stored::ElementKind::minifloat,
                     .bits = 8,
                     .levels = 256,
                     .exponent_bits = 4,
                     .mantissa_bits = 3,
                     .bias = 7,
                     .specials = stored::Specials::nan};
  format.groups = groups;
  return format;
}

inline Scheme integer_scheme(const StoredFormat& weights, const StoredFormat& activations,
                             Unit unit) {
  return {.source = "",
          .weights = weights,
          .activations = activations,
          .unit = unit,
          .scales = ScalePlacement::by_group,
          .accumulate = Accumulator::int32};
}

/// Weights of a format, and activations of the type of the unit.
inline Scheme weight_only(const StoredFormat& weights, Unit unit) {
  return {.source = "", .weights = weights, .activations = std::nullopt, .unit = unit};
}

/// Normal values of a matrix.
struct Values {
  Values(std::size_t rows, std::size_t columns)
      : shape{rows, columns}, values(stored::testing::normal_values(rows * columns)) {}

  operator Matrix() const { return {shape, values}; }

  Shape shape;
  std::vector<float> values;
};

}  // namespace equarx::gemm::testing
