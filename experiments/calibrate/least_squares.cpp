#include "experiments/calibrate/least_squares.hpp"

#include <algorithm>
#include <cmath>
#include <exception>
#include <stdexcept>

#include <fmt/format.h>
#include <gsl/gsl_blas.h>
#include <gsl/gsl_errno.h>
#include <gsl/gsl_multifit_nlinear.h>

#include "experiments/calibrate/gsl.hpp"
#include "experiments/calibrate/linear_algebra.hpp"

namespace equarx::calibrate {
namespace {

using Workspace = GslOwner<gsl_multifit_nlinear_workspace, gsl_multifit_nlinear_free>;

/// Least squares over the free parameters; held ones stay constant.
class FreeFit {
 public:
  FreeFit(const UnlimitedModel& model, const Targets& targets, Point start,
          const std::vector<bool>& held, const FitProgress& progress)
      : model_(model), targets_(targets), point_(std::move(start)), progress_(progress) {
    for (std::size_t i = 0; i < point_.size(); ++i)
      if (!held[i]) free_.push_back(i);
  }

  Fit run() {
    Fit fit{.point = point_, .at_limit = {}, .error_beyond = {}};
    if (free_.empty()) {
      fit.chi_squared = squares(residuals({point_}).front());
      fit.converged = true;
      return fit;
    }
    gsl_set_error_handler_off();  // status codes are checked
    gsl_multifit_nlinear_fdf problem{};
    problem.f = evaluate;
    problem.df = differentiate;
    problem.n = targets_.values.size();
    problem.p = free_.size();
    problem.params = this;
    gsl_multifit_nlinear_parameters parameters = gsl_multifit_nlinear_default_parameters();
    parameters.trs = gsl_multifit_nlinear_trs_lm;
    const Workspace workspace(
        gsl_multifit_nlinear_alloc(gsl_multifit_nlinear_trust, &parameters, problem.n, problem.p));
    const GslVector start(gsl_vector_alloc(problem.p));
    for (std::size_t k = 0; k < free_.size(); ++k)
      gsl_vector_set(start.get(), k, point_[free_[k]] / scale(k));
    int status = gsl_multifit_nlinear_init(start.get(), &problem, workspace.get());
    if (status == GSL_SUCCESS) status = iterate(workspace.get());
    if (error_) std::rethrow_exception(error_);
    // GSL_ENOPROG: further improvement is below the numerical noise.
    if (status != GSL_SUCCESS && status != GSL_EMAXITER && status != GSL_ENOPROG)
      throw std::runtime_error(fmt::format("least squares: {}", gsl_strerror(status)));
    fit.converged = status != GSL_EMAXITER;
    fit.point = at(gsl_multifit_nlinear_position(workspace.get()));
    fit.iterations = gsl_multifit_nlinear_niter(workspace.get());
    fit.chi_squared = squares(residuals({fit.point}).front());
    return fit;
  }

  const std::vector<std::size_t>& free() const { return free_; }

  /// Jacobian of the weighted residuals with respect to the free parameters.
  Jacobian weighted_jacobian(const Point& point) const {
    const Jacobian all = model_.jacobian(point);
    Jacobian weighted{all.outputs, free_.size(), {}};
    for (std::size_t i = 0; i < all.outputs; ++i)
      for (const std::size_t parameter : free_)
        weighted.entries.push_back(all(i, parameter) / targets_.standard_errors[i]);
    return weighted;
  }

 private:
  static double squares(const std::vector<double>& residuals) {
    double sum = 0.0;
    for (const double residual : residuals) sum += residual * residual;
    return sum;
  }

  static int evaluate(const gsl_vector* x, void* self, gsl_vector* f) {
    return static_cast<FreeFit*>(self)->guarded([&](FreeFit& fit) {
      const std::vector<double> residuals = fit.residuals({fit.at(x)}).front();
      for (std::size_t i = 0; i < residuals.size(); ++i) gsl_vector_set(f, i, residuals[i]);
    });
  }

  static int differentiate(const gsl_vector* x, void* self, gsl_matrix* df) {
    return static_cast<FreeFit*>(self)->guarded([&](FreeFit& fit) {
      const Jacobian jacobian = fit.weighted_jacobian(fit.at(x));
      for (std::size_t i = 0; i < jacobian.outputs; ++i)
        for (std::size_t k = 0; k < jacobian.parameters; ++k)
          gsl_matrix_set(df, i, k, jacobian(i, k) * fit.scale(k));
    });
  }

  /// Keeps exceptions from propagating through the C library.
  template <typename Work>
  int guarded(Work work) {
    try {
      work(*this);
      return GSL_SUCCESS;
    } catch (...) {
      error_ = std::current_exception();
      return GSL_EBADFUNC;
    }
  }

  int iterate(gsl_multifit_nlinear_workspace* workspace) {
    constexpr std::size_t kMostIterations = 100;
    constexpr double kTolerance = 1e-7;  // relative; above the noise of finite differences
    int info = 0;
    const auto report = [](std::size_t iteration, void* self,
                           const gsl_multifit_nlinear_workspace* now) {
      const double length = gsl_blas_dnrm2(gsl_multifit_nlinear_residual(now));
      static_cast<FreeFit*>(self)->progress_(iteration, length * length);
    };
    return gsl_multifit_nlinear_driver(kMostIterations, kTolerance, kTolerance, 0.0, report, this,
                                       &info, workspace);
  }

  double scale(std::size_t k) const { return model_.limits()[free_[k]].scale; }

  Point at(const gsl_vector* x) const {
    Point point = point_;
    for (std::size_t k = 0; k < free_.size(); ++k)
      point[free_[k]] = gsl_vector_get(x, k) * scale(k);
    return point;
  }

  std::vector<Outputs> residuals(const std::vector<Point>& points) const {
    std::vector<Outputs> outputs = model_(points);
    for (Outputs& of_point : outputs)
      for (std::size_t i = 0; i < of_point.size(); ++i)
        of_point[i] = (of_point[i] - targets_.values[i]) / targets_.standard_errors[i];
    return outputs;
  }

  const UnlimitedModel& model_;
  const Targets& targets_;
  Point point_;
  const FitProgress& progress_;
  std::vector<std::size_t> free_;
  std::exception_ptr error_;
};

/// Distance beyond the limits, in the parameter's unit; 0 within them.
double beyond(double value, const ParameterLimits& limits) {
  return std::max({0.0, limits.least - value, value - limits.most});
}

Point within(const std::vector<ParameterLimits>& limits, Point point) {
  for (std::size_t i = 0; i < point.size(); ++i)
    point[i] = std::clamp(point[i], limits[i].least, limits[i].most);
  return point;
}

Fit fit_from(const UnlimitedModel& model, const Targets& targets, const Point& start,
             const FitProgress& progress) {
  std::vector<bool> at_limit(start.size(), false);
  std::vector<double> error_beyond(start.size(), 0.0);
  Point from = start;
  while (true) {
    FreeFit free(model, targets, from, at_limit, progress);
    Fit fit = free.run();
    std::optional<std::size_t> worst;
    double worst_by = 0.0;
    for (const std::size_t i : free.free()) {
      const double by = beyond(fit.point[i], model.limits()[i]) / model.limits()[i].scale;
      if (by <= worst_by) continue;
      worst = i;
      worst_by = by;
    }
    if (!worst) {
      fit.at_limit = at_limit;
      fit.error_beyond = error_beyond;
      return fit;
    }
    const ParameterLimits& limits = model.limits()[*worst];
    if (const auto variances = covariance(decompose(free.weighted_jacobian(fit.point)))) {
      const auto k =
          static_cast<std::size_t>(std::ranges::find(free.free(), *worst) - free.free().begin());
      error_beyond[*worst] = std::sqrt((*variances)[k * free.free().size() + k]);
    }
    from = within(model.limits(), fit.point);
    from[*worst] = fit.point[*worst] < limits.least ? limits.least : limits.most;
    at_limit[*worst] = true;
  }
}

}  // namespace

Fit fit(const UnlimitedModel& model, const Targets& targets, const Point& start,
        const FitProgress& progress) {
  const Fit at_once = fit_from(model, targets, start, progress);
  if (std::ranges::find(at_once.at_limit, true) == at_once.at_limit.end()) return at_once;
  // A weakly determined parameter may leave its limits in one long step that compensates for the
  // others, so fit the others first.
  const Point others = FreeFit(model, targets, start, at_once.at_limit, progress).run().point;
  const Fit in_turn = fit_from(model, targets, within(model.limits(), others), progress);
  constexpr double kBetter = 1e-6;  // relative; above numerical noise
  return in_turn.chi_squared < (1.0 - kBetter) * at_once.chi_squared ? in_turn : at_once;
}

}  // namespace equarx::calibrate
