#include "models/stored/layer_inputs.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

#include "models/stored/finite.hpp"
#include "models/stored/rotation.hpp"

namespace equarx::stored {
namespace {

void require(bool holds, const std::string& message) {
  if (!holds) throw std::invalid_argument(message);
}

/// Adds x x^T to a lower triangle.
void add_outer_product(std::span<const float> token, std::vector<double>& sum) {
  const std::size_t columns = token.size();
  for (std::size_t i = 0; i < columns; ++i) {
    if (token[i] == 0.0F) continue;
    double* row = sum.data() + i * columns;
    for (std::size_t j = 0; j <= i; ++j) row[j] += double{token[i]} * double{token[j]};
  }
}

/// x^T H x, with H x in `product`.
double squared_norm(const LayerInputs& inputs, std::span<const double> x,
                    std::vector<double>& product) {
  product.assign(inputs.columns, 0.0);
  for (std::size_t i = 0; i < inputs.columns; ++i) {
    if (x[i] == 0.0) continue;
    const double* row = inputs.hessian.data() + i * inputs.columns;
    for (std::size_t j = 0; j < inputs.columns; ++j) product[j] += x[i] * row[j];
  }
  double sum = 0.0;
  for (std::size_t i = 0; i < inputs.columns; ++i) sum += x[i] * product[i];
  return sum;
}

void transpose(std::size_t size, std::vector<double>& square) {
  for (std::size_t i = 0; i < size; ++i)
    for (std::size_t j = 0; j < i; ++j) std::swap(square[i * size + j], square[j * size + i]);
}

}  // namespace

LayerInputs inputs_of_tokens(std::size_t columns, std::span<const float> tokens) {
  require(!tokens.empty() && tokens.size() % columns == 0,
          std::to_string(tokens.size()) + " inputs are no rows of " + std::to_string(columns) +
              "; give one row for each token, as long as the rows of the weights");
  check_finite(tokens, "input");
  LayerInputs inputs{.columns = columns,
                     .hessian = std::vector<double>(columns * columns, 0.0),
                     .tokens = {tokens.begin(), tokens.end()}};
  for (std::size_t first = 0; first < tokens.size(); first += columns)
    add_outer_product(tokens.subspan(first, columns), inputs.hessian);
  const double factor = 2.0 * static_cast<double>(columns) / static_cast<double>(tokens.size());
  for (std::size_t i = 0; i < columns; ++i)
    for (std::size_t j = 0; j <= i; ++j) {
      inputs.hessian[i * columns + j] *= factor;
      inputs.hessian[j * columns + i] = inputs.hessian[i * columns + j];
    }
  return inputs;
}

LayerInputs inputs_of_hessian(std::size_t columns, std::span<const float> hessian) {
  constexpr double kTolerance = 1e-3;
  require(hessian.size() == columns * columns, "the Hessian has " + std::to_string(hessian.size()) +
                                                   " elements; give " + std::to_string(columns) +
                                                   " x " + std::to_string(columns) +
                                                   ", as long as the rows of the weights");
  check_finite(hessian, "element of the Hessian");
  LayerInputs inputs{.columns = columns, .hessian = std::vector<double>(hessian.size())};
  for (std::size_t i = 0; i < columns; ++i) {
    require(hessian[i * columns + i] >= 0.0F, "the diagonal of the Hessian is negative in row " +
                                                  std::to_string(i) +
                                                  "; give means of products of inputs");
    for (std::size_t j = 0; j < columns; ++j) {
      const double here = hessian[i * columns + j];
      const double there = hessian[j * columns + i];
      const double size = std::sqrt(std::abs(double{hessian[i * columns + i]}) *
                                    std::abs(double{hessian[j * columns + j]}));
      require(std::abs(here - there) <= kTolerance * size,
              "the Hessian is not symmetric in row " + std::to_string(std::min(i, j)) +
                  ", column " + std::to_string(std::max(i, j)) + "; give X^T X");
      inputs.hessian[i * columns + j] = (here + there) / 2.0;
    }
  }
  return inputs;
}

LayerInputs transformed(const Before& before, const LayerInputs& inputs) {
  LayerInputs result = inputs;
  for (int side = 0; side < 2; ++side) {
    transform_inputs(before, inputs.columns, result.hessian);
    transpose(inputs.columns, result.hessian);
  }
  std::vector<double> tokens(inputs.tokens.begin(), inputs.tokens.end());
  transform_inputs(before, inputs.columns, tokens);
  std::ranges::transform(tokens, result.tokens.begin(),
                         [](double x) { return static_cast<float>(x); });
  return result;
}

double output_error(const LayerInputs& inputs, std::span<const float> exact,
                    std::span<const float> decoded) {
  double error = 0.0;
  double size = 0.0;
  std::vector<double> row(inputs.columns);
  std::vector<double> product;
  for (std::size_t first = 0; first < exact.size(); first += inputs.columns) {
    for (std::size_t i = 0; i < inputs.columns; ++i)
      row[i] = double{exact[first + i]} - double{decoded[first + i]};
    error += squared_norm(inputs, row, product);
    std::copy_n(exact.begin() + static_cast<std::ptrdiff_t>(first), inputs.columns, row.begin());
    size += squared_norm(inputs, row, product);
  }
  return error == 0.0 ? 0.0 : error / size;
}

std::vector<double> outputs_of(const LayerInputs& inputs, std::span<const float> weights) {
  const std::size_t columns = inputs.columns;
  const std::size_t rows = weights.size() / columns;
  const std::size_t tokens = inputs.tokens.size() / columns;
  std::vector<double> outputs(tokens * rows, 0.0);
  std::vector<float> column(rows);
  for (std::size_t c = 0; c < columns; ++c) {
    for (std::size_t r = 0; r < rows; ++r) column[r] = weights[r * columns + c];
    if (std::ranges::all_of(column, [](float x) { return x == 0.0F; })) continue;
    for (std::size_t t = 0; t < tokens; ++t) {
      const double x = inputs.tokens[t * columns + c];
      double* row = outputs.data() + t * rows;
      for (std::size_t r = 0; r < rows; ++r) row[r] += x * double{column[r]};
    }
  }
  return outputs;
}

}  // namespace equarx::stored
