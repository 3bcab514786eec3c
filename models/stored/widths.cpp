#include "models/stored/widths.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <stdexcept>

#include "models/stored/rotation.hpp"

namespace equarx::stored {
namespace {

StoredFormat with_bits(StoredFormat format, int bits) {
  format.elements.bits = bits;
  format.elements.levels = 1U << static_cast<unsigned>(bits);
  format.widths = {};
  if (bits == 1) format.scale.zero_point = ZeroPoint::real;
  return format;
}

GroupScale binary_scale(std::span<const float> values, numerics::ScaleFormat type) {
  double sum = 0.0;
  double size = 0.0;
  for (const float x : values) {
    sum += double{x};
    size += std::abs(double{x});
  }
  const double count = std::max<double>(1.0, static_cast<double>(values.size()));
  const float scale = rounded(static_cast<float>(2.0 * size / count), type);
  const float low = rounded(static_cast<float>((sum - size) / count), type);
  return {std::max(scale, std::numeric_limits<float>::min()), low};
}

/// Sum of log-ratios of one token: divergence of softmax(outputs) from softmax(exact).
double divergence(std::span<const double> exact, std::span<const double> outputs) {
  constexpr double kLeast = 1e-6;  // of a probability, as published
  const auto normalizer = [](std::span<const double> x) {
    const double most = std::ranges::max(x);
    double sum = 0.0;
    for (const double value : x) sum += std::exp(value - most);
    return most + std::log(sum);
  };
  const double of_exact = normalizer(exact);
  const double of_outputs = normalizer(outputs);
  double sum = 0.0;
  for (std::size_t i = 0; i < exact.size(); ++i) {
    const double p = std::max(std::exp(outputs[i] - of_outputs), kLeast);
    const double q = std::max(std::exp(exact[i] - of_exact), kLeast);
    sum += p * std::log(p / q);
  }
  return sum;
}

/// Search for the number of groups with other bits.
class WidthSearch {
 public:
  WidthSearch(const StoredFormat& format, const Shape& shape, std::span<const float> values,
              const LayerInputs& inputs)
      : format_(format),
        shape_(shape),
        values_(values),
        inputs_(inputs),
        length_(row_group_length(format.groups, shape)),
        exact_(outputs_of(inputs, values)),
        outputs_(exact_) {
    for (std::size_t group = 0; group < shape.columns / length_; ++group)
      add_error(group, format.elements.bits, 1.0);
  }

  /// Replaces the error of a group of columns.
  void change(std::size_t group, int bits) {
    add_error(group, format_.elements.bits, -1.0);
    add_error(group, bits, 1.0);
  }

  double divergence_of_outputs() const {
    double sum = 0.0;
    for (std::size_t first = 0; first < exact_.size(); first += shape_.rows)
      sum += divergence(std::span(exact_).subspan(first, shape_.rows),
                        std::span(outputs_).subspan(first, shape_.rows));
    return sum;
  }

 private:
  void add_error(std::size_t group, int bits, double sign) {
    StoredFormat format = format_;
    format.widths.bits.assign(shape_.columns / length_, bits);
    const GroupQuantizers quantizers(format, shape_);
    std::vector<float> errors(values_.size(), 0.0F);
    for (std::size_t first = group * length_; first < values_.size(); first += shape_.columns) {
      const GroupScale scale = quantizers.scale_of(group, values_.subspan(first, length_), 1.0F);
      const Quantizer& quantizer = quantizers.of(group);
      for (std::size_t i = first; i < first + length_; ++i)
        errors[i] = quantizer.value(quantizer.code(values_[i], scale), scale) - values_[i];
    }
    const std::vector<double> of_outputs = outputs_of(inputs_, errors);
    for (std::size_t i = 0; i < outputs_.size(); ++i) outputs_[i] += sign * of_outputs[i];
  }

  const StoredFormat& format_;
  const Shape shape_;
  const std::span<const float> values_;
  const LayerInputs& inputs_;
  const std::size_t length_;
  const std::vector<double> exact_;
  std::vector<double> outputs_;
};

/// Groups of columns in ascending order of salience.
std::vector<std::size_t> order_by_salience(std::size_t length, const Shape& shape,
                                           std::span<const float> values,
                                           std::span<const double> root) {
  std::vector<double> salience(shape.columns / length, 0.0);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::size_t column = i % shape.columns;
    const double diagonal = root[column * shape.columns + column];
    salience[column / length] += std::pow(double{values[i]} / diagonal, 2);
  }
  std::vector<std::size_t> order(salience.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t group) { return salience[group]; });
  return order;
}

}  // namespace

GroupQuantizers::GroupQuantizers(const StoredFormat& format, const Shape& shape)
    : widths_(format.widths.bits),
      equal_(static_cast<std::size_t>(format.elements.bits)),
      type_(format.scale.type) {
  if (widths_.empty()) {
    by_width_.at(equal_).emplace(format);
    return;
  }
  check_widths(format, shape);
  for (const int bits : widths_)
    by_width_.at(static_cast<std::size_t>(bits)).emplace(with_bits(format, bits));
}

std::size_t GroupQuantizers::width_of(std::size_t group) const {
  return widths_.empty() ? equal_ : static_cast<std::size_t>(widths_[group % widths_.size()]);
}

const Quantizer& GroupQuantizers::of(std::size_t group) const {
  return by_width_.at(width_of(group)).value();
}

GroupScale GroupQuantizers::scale_of(std::size_t group, std::span<const float> values,
                                     float unit) const {
  if (!widths_.empty() && width_of(group) == 1) return binary_scale(values, type_);
  return of(group).scale_of(values, unit);
}

std::vector<int> widths_by_salience(const StoredFormat& format, const Shape& shape,
                                    std::span<const float> values, const LayerInputs& inputs,
                                    std::span<const double> root) {
  if (inputs.tokens.empty())
    throw std::invalid_argument("widths by salience need the inputs; a Hessian is not enough");
  const std::size_t length = row_group_length(format.groups, shape);
  const std::vector<std::size_t> order = order_by_salience(length, shape, values, root);
  const int bits = format.elements.bits;
  WidthSearch search(format, shape, values, inputs);
  double least = search.divergence_of_outputs();
  std::size_t best = 0;
  for (std::size_t count = 1; count <= order.size() / 2; ++count) {
    search.change(order[count - 1], bits - 1);
    search.change(order[order.size() - count], bits + 1);
    if (const double found = search.divergence_of_outputs(); found < least) {
      least = found;
      best = count;
    }
  }
  std::vector<int> widths(order.size(), bits);
  for (std::size_t i = 0; i < best; ++i) {
    widths[order[i]] = bits - 1;
    widths[order[order.size() - 1 - i]] = bits + 1;
  }
  return widths;
}

std::vector<float> decode_widths(const StoredFormat& format, const Encoded& encoded) {
  const GroupQuantizers quantizers(format, encoded.shape);
  const std::size_t length = row_group_length(format.groups, encoded.shape);
  std::vector<float> values(encoded.codes.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::size_t group = i / length;
    values[i] = quantizers.of(group).value(encoded.codes[i],
                                           {encoded.scales[group], encoded.zero_points[group]});
  }
  for (const FullValue& full : encoded.apart) values[full.index] = full.value;
  transform_back(format.before, encoded.shape, values);
  return values;
}

}  // namespace equarx::stored
