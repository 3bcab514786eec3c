#include "models/stored/scalar_codec.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "models/stored/elements_apart.hpp"
#include "models/stored/kmeans.hpp"
#include "models/stored/quantizer.hpp"
#include "models/stored/rotation.hpp"

namespace equarx::stored {
namespace {

/// Elements of a group that are not apart.
struct Members {
  std::vector<float> values;
  std::vector<double> weights;
};

class Encoder {
 public:
  Encoder(const StoredFormat& format, const Shape& shape, std::span<const float> values,
          std::span<const float> importance)
      : format_(format),
        quantizer_(format),
        values_(values.begin(), values.end()),
        importance_(importance) {
    transform(format.before, shape, values_);
    apart_ = apart_of(format, shape, values_, importance);
    encoded_.shape = shape;
    encoded_.codes.resize(values.size());
  }

  Encoded encoded() {
    find_unit();
    for (const Group& group : groups_of(format_.groups, encoded_.shape))
      has_scales(format_) ? encode_scaled(group) : encode_fitted(group);
    for (std::size_t i = 0; i < values_.size(); ++i)
      if (apart_[i]) encoded_.apart.push_back({i, rounded(values_[i], format_.apart.type)});
    return std::move(encoded_);
  }

 private:
  void find_unit() {
    if (!format_.scale.of_tensor) return;
    float most = 0.0F;
    for (std::size_t i = 0; i < values_.size(); ++i)
      if (!apart_[i]) most = std::max(most, std::abs(values_[i]));
    unit_ = encoded_.tensor_scale = quantizer_.tensor_scale(most);
  }

  Members members(const Group& group) const {
    Members members;
    for (std::size_t n = 0; n < group.count; ++n) {
      const std::size_t i = group.index(n);
      if (apart_[i]) continue;
      members.values.push_back(values_[i]);
      members.weights.push_back(format_.elements.weighted ? double{importance_[i]} : 1.0);
    }
    return members;
  }

  void encode_scaled(const Group& group) {
    const GroupScale scale = quantizer_.scale_of(members(group).values, unit_);
    encoded_.scales.push_back(scale.scale);
    if (format_.scale.zero_point != ZeroPoint::none)
      encoded_.zero_points.push_back(scale.zero_point);
    for (std::size_t n = 0; n < group.count; ++n) {
      const std::size_t i = group.index(n);
      encoded_.codes[i] = quantizer_.code(values_[i], scale);
    }
  }

  void encode_fitted(const Group& group) {
    const Members of_group = members(group);
    const std::size_t count = std::size_t{1} << static_cast<unsigned>(format_.elements.bits);
    std::vector<float> table = kmeans(of_group.values, of_group.weights, count);
    for (float& centre : table) centre = rounded(centre, format_.elements.table_type);
    for (std::size_t n = 0; n < group.count; ++n) {
      const std::size_t i = group.index(n);
      encoded_.codes[i] = nearest(table, values_[i]);
    }
    encoded_.tables.insert(encoded_.tables.end(), table.begin(), table.end());
  }

  const StoredFormat& format_;
  const Quantizer quantizer_;
  std::vector<float> values_;
  const std::span<const float> importance_;
  std::vector<bool> apart_;
  float unit_ = 1.0F;
  Encoded encoded_;
};

}  // namespace

Encoded encode_scalar(const StoredFormat& format, const Shape& shape, std::span<const float> values,
                      std::span<const float> importance) {
  return Encoder(format, shape, values, importance).encoded();
}

std::vector<float> decode_scalar(const StoredFormat& format, const Encoded& encoded) {
  const Quantizer quantizer(format);
  const std::size_t table = std::size_t{1} << static_cast<unsigned>(format.elements.bits);
  const std::vector<Group> groups = groups_of(format.groups, encoded.shape);
  std::vector<float> values(encoded.codes.size());
  for (std::size_t g = 0; g < groups.size(); ++g)
    for (std::size_t n = 0; n < groups[g].count; ++n) {
      const std::size_t i = groups[g].index(n);
      const std::int16_t code = encoded.codes[i];
      values[i] =
          has_scales(format)
              ? quantizer.value(code, {encoded.scales[g],
                                       encoded.zero_points.empty() ? 0.0F : encoded.zero_points[g]})
              : encoded.tables[g * table + static_cast<std::size_t>(code)];
    }
  for (const FullValue& full : encoded.apart) values[full.index] = full.value;
  transform_back(format.before, encoded.shape, values);
  return values;
}

}  // namespace equarx::stored
