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
  std::int16_t code(float value, const GroupScale& group) const;
  float value(std::int16_t code, const GroupScale& group) const;

  /// FP32 scale of the tensor with this abs-max, in units of the largest E4M3 number.
  float tensor_scale(float abs_max) const;

 private:
  GroupScale scale_for(const Range& range, float unit) const;
  GroupScale searched(std::span<const float> values, float unit) const;
  Range range_of(std::span<const float> values) const;
  float power_of_two(float abs_max) const;
  float rounded_scale(float scale) const;
  std::int16_t integer_code(float value, const GroupScale& group) const;

  const StoredFormat format_;
  float largest_;
  std::vector<float> values_;  ///< magnitudes of a minifloat, or the table
};

/// Rounds to the nearest number of a type, saturating. E8M0: exact powers of two only.
float rounded(float value, numerics::ScaleFormat type);

/// Index of the nearest of ascending values, against FP32 means of neighbours; the lower one of
/// two.
std::int16_t nearest(std::span<const float> ascending, float value);

}  // namespace equarx::stored
