#include "experiments/calibrate/linear_algebra.hpp"

#include <cmath>

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_linalg.h>

#include "experiments/calibrate/gsl.hpp"

namespace equarx::calibrate {

Decomposition decompose(const Jacobian& weighted) {
  const std::size_t n = weighted.outputs;
  const std::size_t p = weighted.parameters;
  Decomposition made;
  const GslMatrix left(gsl_matrix_alloc(n, p));
  const GslMatrix right(gsl_matrix_alloc(p, p));
  const GslVector values(gsl_vector_alloc(p));
  for (std::size_t j = 0; j < p; ++j) {
    double squares = 0.0;
    for (std::size_t i = 0; i < n; ++i) squares += weighted(i, j) * weighted(i, j);
    made.lengths.push_back(std::sqrt(squares));
    for (std::size_t i = 0; i < n; ++i)
      gsl_matrix_set(left.get(), i, j, weighted(i, j) / made.lengths[j]);
  }
  // One-sided Jacobi computes small singular values to full relative accuracy.
  gsl_linalg_SV_decomp_jacobi(left.get(), right.get(), values.get());
  for (std::size_t k = 0; k < p; ++k) {
    made.singular_values.push_back(gsl_vector_get(values.get(), k));
    made.combinations.emplace_back();
    for (std::size_t j = 0; j < p; ++j)
      made.combinations[k].push_back(gsl_matrix_get(right.get(), j, k) / made.lengths[j]);
  }
  return made;
}

std::optional<std::vector<double>> covariance(const Decomposition& decomposition) {
  // Above this, differences of simulated times are dominated by rounding.
  constexpr double kMostConditionIndex = 1e6;
  const std::size_t p = decomposition.singular_values.size();
  if (!(decomposition.condition_index(p - 1) < kMostConditionIndex)) return std::nullopt;
  std::vector<double> covariance(p * p);
  for (std::size_t k = 0; k < p; ++k) {
    const double variance =
        1.0 / (decomposition.singular_values[k] * decomposition.singular_values[k]);
    const std::vector<double>& combination = decomposition.combinations[k];
    for (std::size_t i = 0; i < p; ++i)
      for (std::size_t j = 0; j < p; ++j)
        covariance[i * p + j] += combination[i] * combination[j] * variance;
  }
  return covariance;
}

double chi_squared_tail(double chi_squared, std::size_t degrees_of_freedom) {
  if (degrees_of_freedom == 0) return 1.0;
  return gsl_cdf_chisq_Q(chi_squared, static_cast<double>(degrees_of_freedom));
}

}  // namespace equarx::calibrate
