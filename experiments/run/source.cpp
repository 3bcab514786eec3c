#include "experiments/run/source.hpp"

namespace equarx::run {

values::TensorSource make_source(const config::TensorConfig& tensor) {
  if (tensor.files.empty()) return {tensor.values, tensor.elements, tensor.dtype};
  return {tensor.opened, tensor.elements, tensor.dtype};
}

std::optional<values::TensorSource> make_residual_source(const collectives::Program& program,
                                                         const config::TensorConfig& tensor) {
  if (program.arithmetic.residual == collectives::Residual::none) return std::nullopt;
  if (tensor.residual) return make_source(*tensor.residual);
  numerics::InputSpec next;
  next.seed = tensor.values.seed + 1;
  return values::TensorSource(next, tensor.elements, tensor.dtype);
}

}  // namespace equarx::run
