#include "models/gemm/operand.hpp"

#include <algorithm>
#include <cstdlib>

#include "models/stored/quantizer.hpp"

namespace equarx::gemm {
namespace {

using numerics::ScaleFormat;
using stored::Along;
using stored::Encoded;
using stored::Groups;
using stored::Shape;
using stored::StoredFormat;
using stored::ZeroPoint;

/// Inputs of a group along a row; 0: all.
std::size_t inputs_of_group(const std::optional<StoredFormat>& format) {
  return format ? format->groups.length : 0;
}

/// Index of the group of an element, in the order of stored::groups_of().
std::size_t group_at(const Groups& groups, const Shape& shape, std::size_t row,
                     std::size_t column) {
  if (groups.along == Along::tensor) return 0;
  const std::size_t length = groups.length == 0 ? shape.columns : groups.length;
  const std::size_t in_row = (shape.columns - 1) / length + 1;
  const std::size_t high = groups.along == Along::block ? groups.rows : 1;
  return row / high * in_row + column / length;
}

/// Calls `use(index of row and segment, group)` for all rows and segments.
template <typename Use>
void for_each_group(const Groups& groups, const Shape& shape, std::span<const Segment> segments,
                    Use use) {
  for (std::size_t row = 0; row < shape.rows; ++row)
    for (std::size_t s = 0; s < segments.size(); ++s)
      use(row * segments.size() + s, group_at(groups, shape, row, segments[s].begin));
}

std::vector<float> scales_of(const StoredFormat& format, const Encoded& encoded,
                             std::span<const Segment> segments) {
  std::vector<float> scales(encoded.shape.rows * segments.size());
  for_each_group(format.groups, encoded.shape, segments,
                 [&](std::size_t i, std::size_t group) { scales[i] = encoded.scales[group]; });
  return scales;
}

/// Least code of integers.
int least_code(const StoredFormat& format) {
  const bool is_signed = format.scale.zero_point == ZeroPoint::none;
  return is_signed ? -static_cast<int>(format.elements.levels / 2) : 0;
}

/// Elements of a row in units of the scale.
void element_row(const StoredFormat& format, const stored::Quantizer& quantizer,
                 const Encoded& encoded, std::size_t row, std::span<float> elements) {
  const Shape& shape = encoded.shape;
  for (std::size_t column = 0; column < shape.columns; ++column) {
    stored::GroupScale unscaled;
    if (!encoded.zero_points.empty())
      unscaled.zero_point = encoded.zero_points[group_at(format.groups, shape, row, column)];
    elements[column] = quantizer.value(encoded.codes[row * shape.columns + column], unscaled);
  }
}

}  // namespace

std::vector<Segment> segments_of(const Scheme& scheme, std::size_t inputs) {
  std::vector<std::size_t> borders = {0, inputs};
  if (scheme.scales != ScalePlacement::before)
    for (const auto& format : {scheme.weights, scheme.activations})
      if (const std::size_t length = inputs_of_group(format); length > 0)
        for (std::size_t border = length; border < inputs; border += length)
          borders.push_back(border);
  std::ranges::sort(borders);
  borders.erase(std::unique(borders.begin(), borders.end()), borders.end());
  std::vector<Segment> segments;
  for (std::size_t i = 0; i + 1 < borders.size(); ++i)
    segments.push_back({borders[i], borders[i + 1]});
  return segments;
}

float rounded(float value, Unit unit) {
  switch (unit) {
    case Unit::bf16: return stored::rounded(value, ScaleFormat::bf16);
    case Unit::fp16: return stored::rounded(value, ScaleFormat::fp16);
    default: return value;
  }
}

FloatOperand float_operand(const Scheme& scheme, const std::optional<StoredFormat>& format,
                           const Matrix& matrix, std::span<const Segment> segments,
                           unsigned threads) {
  FloatOperand operand{.elements = {matrix.values.begin(), matrix.values.end()}, .scales = {}};
  if (format) {
    const Encoded encoded =
        stored::encode(*format, matrix.shape, matrix.values, matrix.importance, threads);
    if (scheme.scales == ScalePlacement::before) {
      operand.elements = stored::decode(*format, encoded, threads);
    } else {
      const stored::Quantizer quantizer(*format);
      const std::size_t columns = matrix.shape.columns;
      for (std::size_t row = 0; row < matrix.shape.rows; ++row)
        element_row(*format, quantizer, encoded, row,
                    std::span(operand.elements).subspan(row * columns, columns));
      operand.scales = scales_of(*format, encoded, segments);
    }
  }
  for (float& element : operand.elements) element = rounded(element, scheme.unit);
  return operand;
}

CodeOperand code_operand(const StoredFormat& format, const Matrix& matrix,
                         std::span<const Segment> segments, unsigned threads) {
  const Encoded encoded =
      stored::encode(format, matrix.shape, matrix.values, matrix.importance, threads);
  const int least = least_code(format);
  CodeOperand operand;
  operand.bits = format.elements.bits;
  operand.largest = least == 0 ? static_cast<int>(format.elements.levels) - 1 : -least;
  operand.codes.resize(encoded.codes.size());
  std::ranges::transform(encoded.codes, operand.codes.begin(), [&](std::int16_t code) {
    return static_cast<std::uint8_t>(code - least);
  });
  operand.scales = scales_of(format, encoded, segments);
  operand.offsets.assign(operand.scales.size(), least);
  if (!encoded.zero_points.empty())
    for_each_group(format.groups, matrix.shape, segments, [&](std::size_t i, std::size_t group) {
      operand.offsets[i] -= static_cast<int>(encoded.zero_points[group]);
    });
  return operand;
}

}  // namespace equarx::gemm
