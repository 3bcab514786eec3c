// Encoder of rows whose codes depend on the inputs of the layer: error feedback and widths.
#pragma once

#include <span>

#include "models/stored/layer_inputs.hpp"
#include "models/stored/stored_codec.hpp"
#include "models/stored/stored_format.hpp"

namespace equarx::stored {

/// The format with everything that it leaves to the inputs: column factors, widths of groups. On up
/// to `threads` threads. @throws std::invalid_argument as encode()
StoredFormat adapted(const StoredFormat& format, const Shape& shape, std::span<const float> values,
                     const LayerInputs& inputs, unsigned threads = 1);

/// encode() with error feedback in FP64 (GPTQ, arXiv 2210.17323): with U = inverse_root() of the
/// damped Hessian, each column's error / U[i][i] times U[i][j] is subtracted from later columns j.
/// Columns without inputs become 0. `format`: adapted(). The result does not depend on blocking
/// and the number of threads, up to `threads`.
/// @throws std::invalid_argument as encode(), for groups that cross rows, and for a Hessian that is
/// not positive definite after damping
Encoded encode(const StoredFormat& format, const Shape& shape, std::span<const float> values,
               const LayerInputs& inputs, std::span<const float> importance = {},
               unsigned threads = 1);

/// encode() for checked tensors with groups within rows; null inputs: no feedback.
Encoded encode_rows(const StoredFormat& format, const Shape& shape, std::span<const float> values,
                    const LayerInputs* inputs, std::span<const float> importance,
                    unsigned threads = 1);

}  // namespace equarx::stored
