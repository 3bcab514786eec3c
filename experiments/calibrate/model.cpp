#include "experiments/calibrate/model.hpp"

#include <algorithm>

namespace equarx::calibrate {

std::vector<Outputs> UnlimitedModel::operator()(const std::vector<Point>& points) const {
  // Point reflection at the limit: f(limit - d) = 2 f(limit) - f(limit + d) keeps the slope.
  std::vector<Point> evaluated;
  std::vector<bool> is_outside;
  for (const Point& point : points) {
    Point clamped = point;
    Point mirrored = point;
    for (std::size_t i = 0; i < point.size(); ++i) {
      const ParameterLimits& limits = limits_[i];
      clamped[i] = std::clamp(point[i], limits.least, limits.most);
      mirrored[i] = std::clamp(2.0 * clamped[i] - point[i], limits.least, limits.most);
    }
    is_outside.push_back(clamped != point);
    evaluated.push_back(clamped);
    if (is_outside.back()) evaluated.push_back(mirrored);
  }
  const std::vector<Outputs> values = model_(evaluated);
  std::vector<Outputs> outputs;
  auto value = values.begin();
  for (const bool outside : is_outside) {
    outputs.push_back(*value++);
    if (!outside) continue;
    for (std::size_t i = 0; i < value->size(); ++i)
      outputs.back()[i] = 2.0 * outputs.back()[i] - (*value)[i];
    ++value;
  }
  return outputs;
}

Jacobian UnlimitedModel::jacobian(const Point& point) const {
  if (point.empty()) return {(*this)({point}).front().size(), 0, {}};
  std::vector<Point> points;
  for (std::size_t i = 0; i < point.size(); ++i)
    for (const double sign : {1.0, -1.0}) {
      points.push_back(point);
      points.back()[i] += sign * kRelativeStep * limits_[i].scale;
    }
  const std::vector<Outputs> outputs = (*this)(points);
  Jacobian jacobian{outputs.front().size(), point.size(), {}};
  for (std::size_t output = 0; output < jacobian.outputs; ++output)
    for (std::size_t i = 0; i < point.size(); ++i)
      jacobian.entries.push_back((outputs[2 * i][output] - outputs[2 * i + 1][output]) /
                                 (2.0 * kRelativeStep * limits_[i].scale));
  return jacobian;
}

}  // namespace equarx::calibrate
