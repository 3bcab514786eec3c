#include "models/stored/feedback.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/os/parallel_for.hpp"
#include "models/numerics/kernels/multiples.hpp"
#include "models/stored/elements_apart.hpp"
#include "models/stored/factors.hpp"
#include "models/stored/finite.hpp"
#include "models/stored/inverse_root.hpp"
#include "models/stored/kmeans.hpp"
#include "models/stored/rotation.hpp"
#include "models/stored/widths.hpp"

namespace equarx::stored {
namespace {

void check_columns(const LayerInputs& inputs, const Shape& shape) {
  if (inputs.columns != shape.columns)
    throw std::invalid_argument("inputs of " + std::to_string(inputs.columns) +
                                " columns for weights of " + std::to_string(shape.columns));
}

/// Columns without inputs.
std::vector<bool> unused_columns(const LayerInputs& inputs) {
  std::vector<bool> unused(inputs.columns);
  for (std::size_t i = 0; i < inputs.columns; ++i)
    unused[i] = inputs.hessian[i * inputs.columns + i] == 0.0;
  return unused;
}

/// Order in which columns are rounded.
std::vector<std::size_t> column_order(const Feedback& feedback, const LayerInputs& inputs) {
  std::vector<std::size_t> order(inputs.columns);
  std::iota(order.begin(), order.end(), std::size_t{0});
  if (feedback.order == FeedbackOrder::largest)
    std::ranges::stable_sort(order, std::ranges::greater(),
                             [&](std::size_t i) { return inputs.hessian[i * inputs.columns + i]; });
  return order;
}

/// inverse_root() of the damped Hessian, rows and columns in `order`.
std::vector<double> damped_root(const Feedback& feedback, const LayerInputs& inputs,
                                std::span<const std::size_t> order, unsigned threads) {
  const std::size_t size = inputs.columns;
  const std::vector<bool> unused = unused_columns(inputs);
  std::vector<double> matrix(size * size);
  double trace = 0.0;
  for (std::size_t i = 0; i < size; ++i) {
    for (std::size_t j = 0; j < size; ++j)
      matrix[i * size + j] = inputs.hessian[order[i] * size + order[j]];
    if (unused[order[i]]) matrix[i * size + i] = 1.0;
    trace += matrix[i * size + i];
  }
  for (std::size_t i = 0; i < size; ++i)
    matrix[i * size + i] += feedback.damping * trace / static_cast<double>(size);
  try {
    return inverse_root(size, matrix, threads);
  } catch (const std::invalid_argument&) {
    throw std::invalid_argument("the Hessian is not positive definite with a damping of " +
                                std::to_string(feedback.damping) +
                                "; raise \"damping\" or give more inputs");
  }
}

/// Codes of one group, by scale or fitted table.
struct GroupCodes {
  const Quantizer* quantizer = nullptr;
  GroupScale scale = {};
  std::span<const float> table = {};

  std::int16_t code(float x) const {
    return table.empty() ? quantizer->code(x, scale) : nearest(table, x);
  }
  float value(std::int16_t code) const {
    return table.empty() ? quantizer->value(code, scale) : table[static_cast<std::size_t>(code)];
  }
};

/// Stored parts of a row, without its codes.
struct RowParts {
  std::vector<float> scales;
  std::vector<float> zero_points;
  std::vector<float> tables;
};

/// A row that is being rounded.
struct Row {
  std::size_t first;         ///< element
  std::vector<double> rest;  ///< not rounded yet, in the order of rounding
  RowParts* parts;
  std::vector<GroupCodes> groups = {};
  std::vector<std::vector<float>> tables = {};
};

void append(std::vector<float>& all, const std::vector<float>& some) {
  all.insert(all.end(), some.begin(), some.end());
}

class RowEncoder {
 public:
  RowEncoder(const StoredFormat& format, const Shape& shape, std::span<const float> values,
             const LayerInputs* inputs, std::span<const float> importance, unsigned threads)
      : format_(format),
        quantizers_(format, shape),
        length_(row_group_length(format.groups, shape)),
        values_(values.begin(), values.end()),
        importance_(importance),
        threads_(threads) {
    transform(format.before, shape, values_);
    apart_ = apart_of(format, shape, values_, importance);
    encoded_.shape = shape;
    encoded_.codes.resize(values.size());
    if (inputs != nullptr && format.feedback.order != FeedbackOrder::none) use(*inputs);
    find_unit();
  }

  Encoded encoded() {
    constexpr std::size_t kRowsAtOnce = 8;  // each row of the root is read once for all
    std::vector<RowParts> parts(values_.size() / encoded_.shape.columns);
    const std::size_t blocks = (parts.size() + kRowsAtOnce - 1) / kRowsAtOnce;
    os::parallel_for(blocks, threads_, [&](std::size_t block, unsigned) {
      const std::size_t first = block * kRowsAtOnce;
      encode_rows(first,
                  std::span(parts).subspan(first, std::min(kRowsAtOnce, parts.size() - first)));
    });
    for (const RowParts& row : parts) {
      append(encoded_.scales, row.scales);
      append(encoded_.zero_points, row.zero_points);
      append(encoded_.tables, row.tables);
    }
    for (std::size_t i = 0; i < values_.size(); ++i)
      if (apart_[i]) encoded_.apart.push_back({i, full_[i]});
    return std::move(encoded_);
  }

 private:
  void use(const LayerInputs& inputs) {
    const LayerInputs of_codes = transformed(format_.before, inputs);
    order_ = column_order(format_.feedback, of_codes);
    root_ = damped_root(format_.feedback, of_codes, order_, threads_);
    const std::vector<bool> unused = unused_columns(of_codes);
    for (std::size_t i = 0; i < values_.size(); ++i)
      if (unused[i % unused.size()]) values_[i] = 0.0F;
  }

  void find_unit() {
    full_.resize(apart_.size());
    float most = 0.0F;
    for (std::size_t i = 0; i < values_.size(); ++i)
      if (!apart_[i]) most = std::max(most, std::abs(values_[i]));
    if (format_.scale.of_tensor) unit_ = quantizers_.of(0).tensor_scale(most);
  }

  /// Finds scale or table of a group from its values.
  GroupCodes open(std::size_t group, std::span<const float> values, Row& row) const {
    std::vector<float> kept;
    std::vector<double> weights;
    for (std::size_t n = 0; n < length_; ++n) {
      const std::size_t i = group * length_ + n;
      if (apart_[i]) continue;
      kept.push_back(values[n]);
      weights.push_back(format_.elements.weighted ? double{importance_[i]} : 1.0);
    }
    if (!has_scales(format_)) return fitted(kept, weights, row);
    const GroupScale scale = quantizers_.scale_of(group, kept, unit_);
    row.parts->scales.push_back(scale.scale);
    if (format_.scale.zero_point != ZeroPoint::none)
      row.parts->zero_points.push_back(scale.zero_point);
    return {.quantizer = &quantizers_.of(group), .scale = scale};
  }

  GroupCodes fitted(const std::vector<float>& values, const std::vector<double>& weights,
                    Row& row) const {
    const std::size_t count = std::size_t{1} << static_cast<unsigned>(format_.elements.bits);
    std::vector<float>& table = row.tables.emplace_back(kmeans(values, weights, count));
    for (float& centre : table) centre = rounded(centre, format_.elements.table_type);
    append(row.parts->tables, table);
    return {.table = table};
  }

  Row row_of(std::size_t first, RowParts& parts) const {
    const std::size_t columns = encoded_.shape.columns;
    Row row{.first = first, .rest = std::vector<double>(columns), .parts = &parts};
    row.tables.reserve(columns / length_);
    if (format_.feedback.order != FeedbackOrder::columns)
      for (std::size_t start = 0; start < columns; start += length_)
        row.groups.push_back(open((first + start) / length_,
                                  std::span(values_).subspan(first + start, length_), row));
    for (std::size_t p = 0; p < columns; ++p) row.rest[p] = values_[first + column(p)];
    return row;
  }

  /// Encodes rows from `first` on, column by column.
  void encode_rows(std::size_t first, std::span<RowParts> parts) {
    const std::size_t columns = encoded_.shape.columns;
    std::vector<Row> rows;
    rows.reserve(parts.size());
    for (RowParts& one : parts) rows.push_back(row_of((first + rows.size()) * columns, one));
    for (std::size_t p = 0; p < columns; ++p)
      for (Row& row : rows) round(p, row);
  }

  void round(std::size_t p, Row& row) {
    const std::size_t at = column(p);
    if (row.groups.size() <= at / length_) {
      const auto next = row.rest.begin() + static_cast<std::ptrdiff_t>(p);
      const std::vector<float> updated(next, next + static_cast<std::ptrdiff_t>(length_));
      row.groups.push_back(open((row.first + p) / length_, updated, row));
    }
    const double value = row.rest[p];
    spread(p, value - rounded_value(row.first + at, value, row.groups[at / length_]), row.rest);
  }

  /// Column at a place of the order.
  std::size_t column(std::size_t place) const { return order_.empty() ? place : order_[place]; }

  /// Stores the code of an element; returns its decoded value.
  double rounded_value(std::size_t i, double value, const GroupCodes& group) {
    const auto x = static_cast<float>(value);
    encoded_.codes[i] = group.code(x);
    if (!apart_[i]) return group.value(encoded_.codes[i]);
    full_[i] = rounded(x, format_.apart.type);
    return full_[i];
  }

  void spread(std::size_t place, double error, std::vector<double>& rest) const {
    if (root_.empty()) return;
    const double* row = root_.data() + place * rest.size();
    const double unit = error / row[place];
    numerics::kernels::add_multiple(-unit, row + place + 1, rest.size() - place - 1,
                                    rest.data() + place + 1);
  }

  const StoredFormat& format_;
  const GroupQuantizers quantizers_;
  const std::size_t length_;
  std::vector<float> values_;
  const std::span<const float> importance_;
  const unsigned threads_;
  std::vector<bool> apart_;
  std::vector<float> full_;  ///< rounded values of elements apart
  std::vector<std::size_t> order_;
  std::vector<double> root_;
  float unit_ = 1.0F;
  Encoded encoded_;
};

}  // namespace

StoredFormat adapted(const StoredFormat& format, const Shape& shape, std::span<const float> values,
                     const LayerInputs& inputs, unsigned threads) {
  check(format);
  check_columns(inputs, shape);
  StoredFormat result = format;
  if (format.before.factor_steps > 0) {
    result.before.column_factors = searched_factors(format, shape, values, inputs, threads);
    result.before.factor_steps = 0;
  }
  if (!format.widths.by_salience || !format.widths.bits.empty()) return result;
  std::vector<float> turned(values.begin(), values.end());
  transform(result.before, shape, turned);
  const LayerInputs of_codes = transformed(result.before, inputs);
  const std::vector<double> root =
      damped_root(format.feedback, of_codes, column_order({}, of_codes), threads);
  result.widths.bits = widths_by_salience(result, shape, turned, of_codes, root, threads);
  return result;
}

Encoded encode(const StoredFormat& format, const Shape& shape, std::span<const float> values,
               const LayerInputs& inputs, std::span<const float> importance, unsigned threads) {
  check_tensor(format, shape, values, importance);
  check_finite(values, "element");
  check_columns(inputs, shape);
  if (format.feedback.order == FeedbackOrder::none)
    return encode(format, shape, values, importance, threads);
  return encode_rows(format, shape, values, &inputs, importance, threads);
}

Encoded encode_rows(const StoredFormat& format, const Shape& shape, std::span<const float> values,
                    const LayerInputs* inputs, std::span<const float> importance,
                    unsigned threads) {
  return RowEncoder(format, shape, values, inputs, importance, threads).encoded();
}

}  // namespace equarx::stored
