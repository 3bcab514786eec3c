#include "models/stored/layer_inputs.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <stdexcept>
#include <string>

#include "base/os/parallel_for.hpp"
#include "models/numerics/kernels/multiples.hpp"
#include "models/stored/finite.hpp"
#include "models/stored/rotation.hpp"

namespace equarx::stored {
namespace {

void require_inputs(bool holds, const std::string& message) {
  if (!holds) throw std::invalid_argument(message);
}

/// Rows that are computed together; sums of every element keep their order.
constexpr std::size_t kRowsAtOnce = 16;

/// Rows from `first` on, of at most so many that are computed together.
std::size_t end_of_rows(std::size_t first, std::size_t rows) {
  return std::min(first + kRowsAtOnce, rows);
}

std::size_t blocks_of(std::size_t rows) { return (rows + kRowsAtOnce - 1) / kRowsAtOnce; }

/// Adds x x^T of all tokens to rows of a lower triangle, from `first` on.
void add_outer_products(std::size_t columns, std::span<const float> tokens, std::size_t first,
                        std::vector<double>& sum) {
  constexpr std::size_t kTile = 256;  // columns that stay in the cache with the rows
  std::array<double, kTile> others{};
  const std::size_t last = end_of_rows(first, columns);
  for (std::size_t start = 0; start < last; start += kTile) {
    const std::size_t end = std::min(start + kTile, last);
    for (std::size_t token = 0; token < tokens.size(); token += columns) {
      const std::span<const float> x = tokens.subspan(token, columns);
      std::copy(x.begin() + static_cast<std::ptrdiff_t>(start),
                x.begin() + static_cast<std::ptrdiff_t>(end), others.begin());
      for (std::size_t i = std::max(first, start); i < last; ++i) {
        if (x[i] == 0.0F) continue;
        numerics::kernels::add_multiple(x[i], others.data(), std::min(end, i + 1) - start,
                                        sum.data() + i * columns + start);
      }
    }
  }
}

/// x^T H x of rows x of a matrix, as many as `norms`.
void find_squared_norms(const LayerInputs& inputs, std::span<const double> matrix,
                        std::span<double> norms) {
  const std::size_t columns = inputs.columns;
  std::vector<double> products(matrix.size(), 0.0);
  for (std::size_t i = 0; i < columns; ++i) {
    const double* moments = inputs.hessian.data() + i * columns;
    for (std::size_t first = 0; first < matrix.size(); first += columns) {
      const double x = matrix[first + i];
      if (x != 0.0) numerics::kernels::add_multiple(x, moments, columns, products.data() + first);
    }
  }
  for (std::size_t row = 0; row < norms.size(); ++row) {
    norms[row] = 0.0;
    for (std::size_t i = row * columns; i < (row + 1) * columns; ++i)
      norms[row] += matrix[i] * products[i];
  }
}

void transpose(std::size_t size, std::vector<double>& square) {
  for (std::size_t i = 0; i < size; ++i)
    for (std::size_t j = 0; j < i; ++j) std::swap(square[i * size + j], square[j * size + i]);
}

}  // namespace

LayerInputs inputs_of_tokens(std::size_t columns, std::span<const float> tokens, unsigned threads) {
  require_inputs(!tokens.empty() && tokens.size() % columns == 0,
                 std::to_string(tokens.size()) + " inputs are no rows of " +
                     std::to_string(columns) +
                     "; give one row for each token, as long as the rows of the weights");
  check_finite(tokens, "input");
  LayerInputs inputs{.columns = columns,
                     .hessian = std::vector<double>(columns * columns, 0.0),
                     .tokens = {tokens.begin(), tokens.end()}};
  os::parallel_for(blocks_of(columns), threads, [&](std::size_t block, unsigned) {
    add_outer_products(columns, tokens, block * kRowsAtOnce, inputs.hessian);
  });
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
  require_inputs(hessian.size() == columns * columns,
                 "the Hessian has " + std::to_string(hessian.size()) + " elements; give " +
                     std::to_string(columns) + " x " + std::to_string(columns) +
                     ", as long as the rows of the weights");
  check_finite(hessian, "element of the Hessian");
  LayerInputs inputs{.columns = columns, .hessian = std::vector<double>(hessian.size())};
  for (std::size_t i = 0; i < columns; ++i) {
    require_inputs(hessian[i * columns + i] >= 0.0F,
                   "the diagonal of the Hessian is negative in row " + std::to_string(i) +
                       "; give means of products of inputs");
    for (std::size_t j = 0; j < columns; ++j) {
      const double here = hessian[i * columns + j];
      const double there = hessian[j * columns + i];
      const double size = std::sqrt(std::abs(double{hessian[i * columns + i]}) *
                                    std::abs(double{hessian[j * columns + j]}));
      require_inputs(std::abs(here - there) <= kTolerance * size,
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

double squared_outputs(const LayerInputs& inputs, std::span<const double> weights,
                       unsigned threads) {
  const std::size_t rows = weights.size() / inputs.columns;
  std::vector<double> norms(rows);
  os::parallel_for(blocks_of(rows), threads, [&](std::size_t block, unsigned) {
    const std::size_t first = block * kRowsAtOnce;
    const std::size_t count = end_of_rows(first, rows) - first;
    find_squared_norms(inputs, weights.subspan(first * inputs.columns, count * inputs.columns),
                       std::span(norms).subspan(first, count));
  });
  return std::accumulate(norms.begin(), norms.end(), 0.0);
}

std::vector<double> difference(std::span<const float> exact, std::span<const float> decoded) {
  std::vector<double> result(exact.size());
  std::ranges::transform(exact, decoded, result.begin(),
                         [](float x, float y) { return double{x} - double{y}; });
  return result;
}

double output_error(const LayerInputs& inputs, std::span<const float> exact,
                    std::span<const float> decoded, unsigned threads) {
  const double error = squared_outputs(inputs, difference(exact, decoded), threads);
  if (error == 0.0) return 0.0;
  return error / squared_outputs(inputs, std::vector<double>(exact.begin(), exact.end()), threads);
}

std::vector<double> outputs_of(const LayerInputs& inputs, std::span<const float> weights) {
  const std::size_t columns = inputs.columns;
  const std::size_t rows = weights.size() / columns;
  const std::size_t tokens = inputs.tokens.size() / columns;
  std::vector<double> outputs(tokens * rows, 0.0);
  std::vector<double> column(rows);
  for (std::size_t c = 0; c < columns; ++c) {
    for (std::size_t r = 0; r < rows; ++r) column[r] = weights[r * columns + c];
    if (std::ranges::all_of(column, [](double x) { return x == 0.0; })) continue;
    for (std::size_t t = 0; t < tokens; ++t)
      numerics::kernels::add_multiple(inputs.tokens[t * columns + c], column.data(), rows,
                                      outputs.data() + t * rows);
  }
  return outputs;
}

}  // namespace equarx::stored
