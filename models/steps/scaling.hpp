// Scaled operands of training as stored formats.
#pragma once

#include "models/gemm/scheme.hpp"
#include "models/steps/precision.hpp"

namespace equarx::steps {

/// Scheme of a GEMM whose operands are cast to `type`: formats, unit, place of the scales.
/// @throws std::invalid_argument for types without casts
gemm::Scheme scheme_of(hardware::MatrixType type, Scaling scaling);

/// True if a cast can also be used by a GEMM that sums along the other axis of the operand.
bool serves_both_axes(const stored::StoredFormat& format);

/// Bytes per element, including its share of the scales. Those of whole rows and tensors are
/// negligible.
double bytes_per_element(const stored::StoredFormat& format);

}  // namespace equarx::steps
