#include "models/stored/widths.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <stdexcept>

#include "base/os/parallel_for.hpp"
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

/// softmax(outputs), each at least 1e-6, as published.
void find_probabilities(std::span<const double> outputs, std::span<double> probabilities) {
  constexpr double kLeast = 1e-6;
  const double most = std::ranges::max(outputs);
  double sum = 0.0;
  for (const double output : outputs) sum += std::exp(output - most);
  const double normalizer = most + std::log(sum);
  std::ranges::transform(outputs, probabilities.begin(), [&](double output) {
    return std::max(std::exp(output - normalizer), kLeast);
  });
}

/// Sum of log-ratios of one token.
double divergence(std::span<const double> exact, std::span<const double> probabilities) {
  double sum = 0.0;
  for (std::size_t i = 0; i < exact.size(); ++i)
    sum += probabilities[i] * std::log(probabilities[i] / exact[i]);
  return sum;
}

/// Search for the number of groups with other bits.
class WidthSearch {
 public:
  WidthSearch(const StoredFormat& format, const Shape& shape, std::span<const float> values,
              const LayerInputs& inputs, unsigned threads)
      : format_(format),
        shape_(shape),
        values_(values),
        inputs_(inputs),
        length_(row_group_length(format.groups, shape)),
        threads_(threads),
        outputs_(outputs_of(inputs, values)),
        exact_(outputs_.size()) {
    for (std::size_t first = 0; first < outputs_.size(); first += shape.rows)
      find_probabilities(std::span(outputs_).subspan(first, shape.rows),
                         std::span(exact_).subspan(first, shape.rows));
    for (std::size_t group = 0; group < shape.columns / length_; ++group)
      add_error(group, format.elements.bits, 1.0);
  }

  /// Replaces the error of a group of columns.
  void change(std::size_t group, int bits) {
    add_error(group, format_.elements.bits, -1.0);
    add_error(group, bits, 1.0);
  }

  double divergence_of_outputs() const {
    constexpr std::size_t kTokensAtOnce = 64;
    std::vector<double> of_tokens(outputs_.size() / shape_.rows);
    const std::size_t blocks = (of_tokens.size() + kTokensAtOnce - 1) / kTokensAtOnce;
    os::parallel_for(blocks, threads_, [&](std::size_t block, unsigned) {
      std::vector<double> probabilities(shape_.rows);
      const std::size_t end = std::min((block + 1) * kTokensAtOnce, of_tokens.size());
      for (std::size_t token = block * kTokensAtOnce; token < end; ++token) {
        find_probabilities(of_token(outputs_, token), probabilities);
        of_tokens[token] = divergence(of_token(exact_, token), probabilities);
      }
    });
    return std::accumulate(of_tokens.begin(), of_tokens.end(), 0.0);
  }

 private:
  std::span<const double> of_token(const std::vector<double>& all, std::size_t token) const {
    return std::span(all).subspan(token * shape_.rows, shape_.rows);
  }

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
  const unsigned threads_;
  std::vector<double> outputs_;
  std::vector<double> exact_;  ///< probabilities
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
                                    std::span<const double> root, unsigned threads) {
  if (inputs.tokens.empty())
    throw std::invalid_argument("widths by salience need the inputs; a Hessian is not enough");
  const std::size_t length = row_group_length(format.groups, shape);
  const std::vector<std::size_t> order = order_by_salience(length, shape, values, root);
  const int bits = format.elements.bits;
  WidthSearch search(format, shape, values, inputs, threads);
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
