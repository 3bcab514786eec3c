#include "models/checkpoints/weight.hpp"

namespace equarx::checkpoints {
namespace {

using stored::ElementKind;

/// First of the signed codes, which count from 0 in a checkpoint.
int lowest_code(const stored::Elements& elements, bool shifted) {
  return elements.kind == ElementKind::integer && !shifted ? -middle_code(elements.bits) : 0;
}

stored::StoredFormat format_of(const Weight& weight) {
  stored::StoredFormat format;
  format.elements = weight.elements;
  format.groups = {stored::Along::row, weight.codes.columns / weight.scales.columns};
  format.scale.type = weight.scale_type;
  format.scale.of_tensor = weight.tensor_scale != 1.0F;
  if (weight.scale_type == numerics::ScaleFormat::e8m0)
    format.scale.rule = stored::RangeRule::power_of_two_down;
  if (weight.zero_points.empty()) return format;
  format.scale.rule = stored::RangeRule::min_max;
  format.scale.zero_point = stored::ZeroPoint::rounded;
  return format;
}

}  // namespace

stored::Elements integer_elements(int bits) {
  stored::Elements elements;
  elements.bits = bits;
  elements.levels = 1U << static_cast<unsigned>(bits);
  return elements;
}

Weight weight_of(const stored::StoredFormat& format, const stored::Encoded& encoded) {
  const auto [rows, columns] = encoded.shape;
  Weight weight{.elements = format.elements,
                .scale_type = format.scale.type,
                .codes = {rows, columns},
                .scales = {rows, encoded.scales.size() / rows},
                .zero_points = {},
                .tensor_scale = encoded.tensor_scale};
  const int lowest = lowest_code(format.elements, !encoded.zero_points.empty());
  for (std::size_t i = 0; i < encoded.codes.size(); ++i)
    weight.codes.data[i] = static_cast<std::uint8_t>(encoded.codes[i] - lowest);
  weight.scales.data = encoded.scales;
  if (encoded.zero_points.empty()) return weight;
  weight.zero_points = {rows, weight.scales.columns};
  for (std::size_t i = 0; i < encoded.zero_points.size(); ++i)
    weight.zero_points.data[i] = static_cast<std::uint8_t>(encoded.zero_points[i]);
  return weight;
}

Stored stored_of(const Weight& weight) {
  Stored result{format_of(weight), {}};
  stored::Encoded& encoded = result.encoded;
  encoded.shape = {weight.codes.rows, weight.codes.columns};
  encoded.tensor_scale = weight.tensor_scale;
  encoded.scales = weight.scales.data;
  encoded.zero_points.assign(weight.zero_points.data.begin(), weight.zero_points.data.end());
  const int lowest = lowest_code(weight.elements, !weight.zero_points.empty());
  encoded.codes.reserve(weight.codes.data.size());
  for (const std::uint8_t code : weight.codes.data)
    encoded.codes.push_back(static_cast<std::int16_t>(code + lowest));
  return result;
}

}  // namespace equarx::checkpoints
