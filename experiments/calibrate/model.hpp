// Models to fit: functions from parameters to outputs.
#pragma once

#include <functional>
#include <vector>

namespace equarx::calibrate {

/// Parameter values.
using Point = std::vector<double>;
/// Output values.
using Outputs = std::vector<double>;

/// Evaluates several points in parallel. Points must be within the parameter limits.
using Model = std::function<std::vector<Outputs>(const std::vector<Point>&)>;

/// Limits and scale of a parameter.
struct ParameterLimits {
  double scale = 1.0;  ///< typical magnitude of a large change; > 0
  double least = 0.0;
  double most = 0.0;
};

/// Row-major matrix, outputs x parameters.
struct Jacobian {
  std::size_t outputs = 0;
  std::size_t parameters = 0;
  std::vector<double> entries;

  double operator()(std::size_t output, std::size_t parameter) const {
    return entries[output * parameters + parameter];
  }
};

/// Extends a model beyond its limits with continuous slope, for optimizers without bounds. If the
/// optimum is beyond a limit, the parameter belongs at that limit.
class UnlimitedModel {
 public:
  UnlimitedModel(Model model, std::vector<ParameterLimits> limits)
      : model_(std::move(model)), limits_(std::move(limits)) {}

  std::vector<Outputs> operator()(const std::vector<Point>& points) const;
  /// Central differences with steps of kRelativeStep x scale.
  Jacobian jacobian(const Point& point) const;

  const std::vector<ParameterLimits>& limits() const { return limits_; }

 private:
  Model model_;
  std::vector<ParameterLimits> limits_;
};

/// Finite-difference step as a fraction of a parameter's scale. Link times are rounded to half a
/// byte, which dominates smaller steps; the truncation error of central differences is quadratic in
/// the step.
inline constexpr double kRelativeStep = 5e-3;

}  // namespace equarx::calibrate
