#include "models/stored/kmeans.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <numeric>

namespace equarx::stored {
namespace {

/// Distinct values in ascending order, with prefix sums of weights and moments about `middle`.
struct Sorted {
  std::vector<double> values;
  std::vector<double> weight = {0.0};
  std::vector<double> first = {0.0};
  std::vector<double> second = {0.0};
  double middle = 0.0;

  void add(double value, double here) {
    const double offset = value - middle;
    if (values.empty() || values.back() != value) {
      values.push_back(value);
      weight.push_back(weight.back());
      first.push_back(first.back());
      second.push_back(second.back());
    }
    weight.back() += here;
    first.back() += here * offset;
    second.back() += here * offset * offset;
  }

  /// Squared error of one cluster [begin, end).
  double cost(std::size_t begin, std::size_t end) const {
    const double total = weight[end] - weight[begin];
    const double sum = first[end] - first[begin];
    if (!(total > 0.0)) return 0.0;
    return std::max(0.0, second[end] - second[begin] - sum * sum / total);
  }

  double centre(std::size_t begin, std::size_t end) const {
    const double total = weight[end] - weight[begin];
    if (total > 0.0)
      return std::clamp(middle + (first[end] - first[begin]) / total, values[begin],
                        values[end - 1]);
    const auto from = values.begin() + static_cast<std::ptrdiff_t>(begin);
    const auto to = values.begin() + static_cast<std::ptrdiff_t>(end);
    return std::accumulate(from, to, 0.0) / static_cast<double>(end - begin);
  }
};

Sorted sorted_values(std::span<const float> values, std::span<const double> weights) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return values[i]; });
  Sorted sorted;
  sorted.middle = values[order[order.size() / 2]];
  for (const std::size_t i : order) sorted.add(values[i], weights[i]);
  return sorted;
}

/// One more cluster: least errors of the first n values, and where their last cluster begins.
class Layer {
 public:
  Layer(const Sorted& sorted, const std::vector<double>& previous)
      : errors(previous.size(), std::numeric_limits<double>::infinity()),
        begins(previous.size(), 0),
        sorted_(sorted),
        previous_(previous) {
    divide(0, previous.size(), 0, previous.size() - 1);
  }

  std::vector<double> errors;
  std::vector<std::uint32_t> begins;

 private:
  /// Best beginnings ascend with the end: divide and conquer over ends [low, high).
  void divide(std::size_t low, std::size_t high, std::size_t least, std::size_t most) {
    if (low >= high) return;
    const std::size_t end = low + (high - low) / 2;
    std::size_t best = least;
    for (std::size_t begin = least; begin <= std::min(most, end); ++begin) {
      const double error = previous_[begin] + (begin == end ? 0.0 : sorted_.cost(begin, end));
      if (error >= errors[end]) continue;
      errors[end] = error;
      best = begin;
    }
    begins[end] = static_cast<std::uint32_t>(best);
    divide(low, end, least, best);
    divide(end + 1, high, best, most);
  }

  const Sorted& sorted_;
  const std::vector<double>& previous_;
};

}  // namespace

std::vector<float> kmeans(std::span<const float> values, std::span<const double> weights,
                          std::size_t count) {
  if (values.empty()) return std::vector<float>(count, 0.0F);
  const Sorted sorted = sorted_values(values, weights);
  const std::size_t size = sorted.values.size();
  std::vector<double> errors(size + 1, std::numeric_limits<double>::infinity());
  errors[0] = 0.0;
  std::vector<std::vector<std::uint32_t>> begins;
  for (std::size_t cluster = 0; cluster < count; ++cluster) {
    Layer layer(sorted, errors);
    errors = std::move(layer.errors);
    begins.push_back(std::move(layer.begins));
  }
  std::vector<float> centres;
  std::size_t end = size;
  for (std::size_t cluster = count; cluster-- > 0;) {
    const std::size_t begin = begins[cluster][end];
    if (begin < end) centres.push_back(static_cast<float>(sorted.centre(begin, end)));
    end = begin;
  }
  std::ranges::reverse(centres);
  centres.resize(count, centres.back());
  return centres;
}

}  // namespace equarx::stored
