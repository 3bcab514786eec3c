// What is fitted, as functions of real numbers.
#pragma once

#include <functional>
#include <vector>

namespace equarx::calibrate {

/// The value of each parameter.
using Point = std::vector<double>;
/// The value of each output.
using Outputs = std::vector<double>;

/// The outputs at each of several points, found side by side. Points are within the limits of the parameters.
using Model = std::function<std::vector<Outputs>(const std::vector<Point>&)>;

/// What a parameter of a model may be.
struct ParameterLimits {
  double scale = 1.0;  ///< how much of a change is a large one; above 0
  double least = 0.0;
  double most = 0.0;
};

/// n x m, row-major: outputs by parameters.
struct Jacobian {
  std::size_t outputs = 0;
  std::size_t parameters = 0;
  std::vector<double> entries;

  double operator()(std::size_t output, std::size_t parameter) const {
    return entries[output * parameters + parameter];
  }
};

/// A model that answers everywhere: beyond a limit it goes on as straight as it came. An optimiser without limits
/// may use it, and where it ends beyond a limit, the parameter belongs on it.
class UnlimitedModel {
 public:
  UnlimitedModel(Model model, std::vector<ParameterLimits> limits)
      : model_(std::move(model)), limits_(std::move(limits)) {}

  std::vector<Outputs> operator()(const std::vector<Point>& points) const;
  /// By central differences with steps of kRelativeStep of the scales.
  Jacobian jacobian(const Point& point) const;

  const std::vector<ParameterLimits>& limits() const { return limits_; }

 private:
  Model model_;
  std::vector<ParameterLimits> limits_;
};

/// Of a parameter's scale. The time that a link is held is rounded to half a byte, which is noise in smaller steps;
/// central differences err by the square of it.
inline constexpr double kRelativeStep = 5e-3;

}  // namespace equarx::calibrate
