// Inputs of the layer whose weights are stored: second moments, and the error of outputs.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "models/stored/stored_format.hpp"

namespace equarx::stored {

/// Inputs of a layer with weights [outputs, columns].
struct LayerInputs {
  std::size_t columns = 0;
  std::vector<double> hessian;     ///< [columns, columns]: 2 x mean of x x^T over tokens
  std::vector<float> tokens = {};  ///< [tokens, columns]; empty if only the Hessian is known
};

/// Inputs of tokens, in rows, on up to `threads` threads. @throws std::invalid_argument for rows of
/// another length, no rows, NaN and Inf
LayerInputs inputs_of_tokens(std::size_t columns, std::span<const float> tokens,
                             unsigned threads = 1);

/// Inputs known by their Hessian only, up to a factor. @throws std::invalid_argument if it
/// is not square, finite, symmetric, or has a negative diagonal
LayerInputs inputs_of_hessian(std::size_t columns, std::span<const float> hessian);

/// Inputs of weights after transform().
LayerInputs transformed(const Before& before, const LayerInputs& inputs);

/// sum |W x|^2 over the inputs, up to a factor, on up to `threads` threads.
double squared_outputs(const LayerInputs& inputs, std::span<const double> weights,
                       unsigned threads = 1);

/// W - Q in FP64.
std::vector<double> difference(std::span<const float> exact, std::span<const float> decoded);

/// sum |(W - Q) x|^2 / sum |W x|^2 over the inputs, on up to `threads` threads; 0 if both are 0.
double output_error(const LayerInputs& inputs, std::span<const float> exact,
                    std::span<const float> decoded, unsigned threads = 1);

/// Products of every token with each row of `weights`: [tokens, rows] in FP64.
std::vector<double> outputs_of(const LayerInputs& inputs, std::span<const float> weights);

}  // namespace equarx::stored
