#include "models/stored/factors.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "models/stored/stored_codec.hpp"

namespace equarx::stored {
namespace {

std::vector<double> mean_magnitudes(const LayerInputs& inputs) {
  std::vector<double> means(inputs.columns, 0.0);
  for (std::size_t i = 0; i < inputs.tokens.size(); ++i)
    means[i % inputs.columns] += std::abs(double{inputs.tokens[i]});
  const std::size_t rows = inputs.tokens.size() / inputs.columns;
  const auto tokens = static_cast<double>(rows);
  for (double& mean : means) mean /= tokens;
  return means;
}

std::vector<double> factors_of(std::span<const double> magnitudes, double exponent) {
  constexpr double kLeast = 1e-4;
  std::vector<double> factors;
  for (const double magnitude : magnitudes)
    factors.push_back(std::max(std::pow(magnitude, exponent), kLeast));
  const auto [low, high] = std::ranges::minmax(factors);
  const double middle = std::sqrt(low * high);
  for (double& factor : factors) factor /= middle;
  return factors;
}

}  // namespace

std::vector<double> searched_factors(const StoredFormat& format, const Shape& shape,
                                     std::span<const float> values, const LayerInputs& inputs,
                                     unsigned threads) {
  if (inputs.tokens.empty())
    throw std::invalid_argument("column factors need the inputs; a Hessian is not enough");
  if (needs_importance(format))
    throw std::invalid_argument("column factors are not for formats with importance");
  StoredFormat plain = format;
  plain.before.factor_steps = 0;
  plain.feedback = {};
  plain.widths = {};
  const std::vector<double> magnitudes = mean_magnitudes(inputs);
  std::vector<double> best;
  double least = std::numeric_limits<double>::infinity();
  for (std::uint32_t step = 0; step < format.before.factor_steps; ++step) {
    plain.before.column_factors =
        factors_of(magnitudes, static_cast<double>(step) / format.before.factor_steps);
    const std::vector<float> decoded =
        decode(plain, encode(plain, shape, values, {}, threads), threads);
    const double error = squared_outputs(inputs, difference(values, decoded), threads);
    if (error >= least) continue;
    least = error;
    best = plain.before.column_factors;
  }
  return best;
}

}  // namespace equarx::stored
