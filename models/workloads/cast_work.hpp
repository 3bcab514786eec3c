// Work of quantizing elements on the vector unit.
#pragma once

#include "models/stored/stored_format.hpp"

namespace equarx::workloads {

/// Work per element in registers, unless noted otherwise.
struct CastWork {
  double vector_ops = 0.0;   ///< FP32 vector operations
  double comparisons = 0.0;  ///< of a sort
  /// Operations of a pass that reads the elements before, to find scales of a tensor or of columns;
  /// 0: none.
  double pass_ops = 0.0;
};

/// Vector operations per element to find the range of a group: absolute value and maximum, or
/// minimum and maximum.
inline constexpr double kRange = 2.0;

/// Work of a cast with dynamic scales: range, scale, encoding. Given ranges are not searched.
/// @param row  elements per row
/// @throws std::invalid_argument for fitted tables and elements apart, which are made in advance
CastWork cast_work(const stored::StoredFormat& format, double row);

/// Vector operations of encoding an element in units of its scale.
double encode_ops(const stored::Elements& elements);

/// Vector operations of decoding an element to FP32, in units of its scale.
double decode_ops(const stored::Elements& elements);

}  // namespace equarx::workloads
