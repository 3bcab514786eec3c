// Codes of one group of a stored format with scales.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "models/stored/stored_format.hpp"

namespace equarx::stored {

/// Range of a group's values.
struct Range {
  float low;
  float high;
};

/// Unit and origin of the codes of a group.
struct GroupScale {
  float scale = 1.0F;
  float zero_point = 0.0F;
};

/// Rounds values of one format; see encode().
class Quantizer {
 public:
  explicit Quantizer(const StoredFormat& format);

  /// Scale of a group, in units of `unit`, the scale of the tensor.
  GroupScale scale_of(std::span<const float> values, float unit) const;
  /// Scales of groups with these least and largest values, or largest magnitudes; `zero_points` is
  /// null for a format without them. Finite values decode to finite ones.
  void scales_of_ranges(std::span<const float> low, std::span<const float> high, float unit,
                        float* scales, float* zero_points) const;
  std::int16_t code(float value, const GroupScale& group) const;
  float value(std::int16_t code, const GroupScale& group) const;
  /// Values of all 2^bits codes for a scale of 1 and a zero point of 0; 0 for unused ones. Codes of
  /// integers without zero point are in two's complement.
  std::vector<float> numbers() const;
  /// Thresholds between the values of a table, or between magnitudes of minifloats with ties to
  /// even or away: code = thresholds below the value.
  std::vector<float> thresholds() const;

  /// FP32 scale of the tensor with this abs-max, in units of the largest E4M3 number.
  float tensor_scale(float abs_max) const;

 private:
  /// Range of the rule.
  Range completed(const Range& found) const;
  GroupScale scale_of_range(const Range& range, float unit) const;
  GroupScale searched(std::span<const float> values, float unit) const;
  Range range_of(std::span<const float> values) const;
  float power_of_two(float abs_max) const;
  float rounded_scale(float scale) const;
  std::int16_t integer_code(float value, const GroupScale& group) const;

  const StoredFormat format_;
  float largest_;
  float smallest_scale_ = 0.0F;  ///< of the type
  float least_scale_ = 0.0F;     ///< before rounding
  float largest_scale_ = 0.0F;   ///< all codes decode to finite values
  std::vector<float> values_;    ///< magnitudes of a minifloat, or the table
};

/// Rounds to the nearest number of a type, saturating. E8M0: exact powers of two only.
float rounded(float value, numerics::ScaleFormat type);

/// In FP32.
float mean(float a, float b);

/// Index of the nearest of ascending values, against FP32 means of neighbours; the lower one of
/// two.
std::int16_t nearest(std::span<const float> ascending, float value);

}  // namespace equarx::stored
