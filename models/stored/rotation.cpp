#include "models/stored/rotation.hpp"

#include <cmath>
#include <stdexcept>
#include <string>

namespace equarx::stored {
namespace {

/// Orthonormal Hadamard matrix in Sylvester's order, its own inverse.
template <typename Number>
void rotate(std::span<Number> block) {
  for (std::size_t stride = 1; stride < block.size(); stride *= 2)
    for (std::size_t i = 0; i < block.size(); ++i) {
      if ((i & stride) != 0) continue;
      const Number a = block[i];
      const Number b = block[i + stride];
      block[i] = a + b;
      block[i + stride] = a - b;
    }
  const auto root = static_cast<Number>(std::sqrt(static_cast<double>(block.size())));
  for (Number& value : block) value /= root;
}

template <typename Number>
void rotate_blocks(std::size_t length, std::span<Number> values) {
  for (std::size_t first = 0; length > 0 && first < values.size(); first += length)
    rotate(values.subspan(first, length));
}

void check(const Before& before, const Shape& shape) {
  const std::string columns = std::to_string(shape.columns);
  if (before.hadamard > 0 && shape.columns % before.hadamard != 0)
    throw std::invalid_argument("Hadamard blocks of " + std::to_string(before.hadamard) +
                                " do not divide rows of " + columns + " elements; give a divisor");
  if (!before.column_factors.empty() && before.column_factors.size() != shape.columns)
    throw std::invalid_argument(std::to_string(before.column_factors.size()) +
                                " column factors for " + columns + " columns; give one for each");
}

}  // namespace

void transform(const Before& before, const Shape& shape, std::span<float> values) {
  check(before, shape);
  const std::vector<double>& factors = before.column_factors;
  for (std::size_t i = 0; i < values.size() && !factors.empty(); ++i)
    values[i] *= static_cast<float>(factors[i % shape.columns]);
  rotate_blocks(before.hadamard, values);
}

void transform_inputs(const Before& before, std::size_t columns, std::span<double> inputs) {
  check(before, {inputs.size() / columns, columns});
  const std::vector<double>& factors = before.column_factors;
  for (std::size_t i = 0; i < inputs.size() && !factors.empty(); ++i)
    inputs[i] /= static_cast<float>(factors[i % columns]);
  rotate_blocks(before.hadamard, inputs);
}

void transform_back(const Before& before, const Shape& shape, std::span<float> values) {
  const std::vector<double>& factors = before.column_factors;
  rotate_blocks(before.hadamard, values);
  for (std::size_t i = 0; i < values.size() && !factors.empty(); ++i)
    values[i] /= static_cast<float>(factors[i % shape.columns]);
}

}  // namespace equarx::stored
