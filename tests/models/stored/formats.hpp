// Stored formats and values of tests.
#pragma once

#include <cmath>
#include <vector>

#include "models/numerics/inputs/inputs.hpp"
#include "models/stored/layer_inputs.hpp"
#include "models/stored/stored_codec.hpp"

namespace equarx::stored::testing {

inline StoredFormat integer_format(int bits, Groups groups = {}, Scale scale = {}) {
  StoredFormat format;
  const bool shifted = scale.zero_point != ZeroPoint::none;
  format.elements.bits = bits;
  format.elements.levels = (1U << static_cast<unsigned>(bits)) - (shifted ? 0 : 1);
  format.groups = groups;
  format.scale = scale;
  return format;
}

inline StoredFormat e2m1_format(Groups groups, Scale scale) {
  StoredFormat format;
  format.elements.kind = ElementKind::minifloat;
  format.elements.levels = 16;
  format.groups = groups;
  format.scale = scale;
  return format;
}

inline StoredFormat table_format(const std::string& name, int bits, Groups groups) {
  StoredFormat format;
  format.elements.kind = ElementKind::table;
  format.elements.bits = bits;
  format.elements.table = named_table(name).value();
  format.elements.levels = static_cast<std::uint32_t>(format.elements.table.size());
  format.groups = groups;
  return format;
}

inline StoredFormat kmeans_format(int bits, Groups groups) {
  StoredFormat format;
  format.elements.kind = ElementKind::k_means;
  format.elements.bits = bits;
  format.elements.levels = 1U << static_cast<unsigned>(bits);
  format.groups = groups;
  return format;
}

inline std::vector<float> normal_values(std::size_t count) {
  std::vector<float> values(count);
  numerics::generate({}, 0, 0, values);
  return values;
}

inline std::vector<float> stored_values(const StoredFormat& format, const Shape& shape,
                                        const std::vector<float>& values,
                                        const std::vector<float>& importance = {}) {
  return decode(format, encode(format, shape, values, importance));
}

inline double nmse(const std::vector<float>& values, const std::vector<float>& exact) {
  double error = 0.0;
  double size = 0.0;
  for (std::size_t i = 0; i < exact.size(); ++i) {
    error += std::pow(double{values[i]} - double{exact[i]}, 2);
    size += std::pow(double{exact[i]}, 2);
  }
  return error / size;
}

/// Correlated inputs of a layer: sums of neighbours, of different sizes.
inline LayerInputs correlated_inputs(std::size_t columns, std::size_t tokens,
                                     std::uint32_t seed = 1) {
  std::vector<float> values(columns * tokens);
  numerics::generate({}, seed, 0, values);
  for (std::size_t i = 1; i < values.size(); ++i)
    if (i % columns != 0)
      values[i] = 0.8F * values[i - 1] + values[i] * (1.0F + static_cast<float>(i % 7));
  return inputs_of_tokens(columns, values);
}

}  // namespace equarx::stored::testing
