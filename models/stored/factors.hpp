// Column factors from the inputs of a layer.
#pragma once

#include <span>
#include <vector>

#include "models/stored/layer_inputs.hpp"
#include "models/stored/stored_format.hpp"

namespace equarx::stored {

/// Factors (mean |x|)^(step / factor_steps) of the columns, at least 1e-4 and divided by the
/// geometric mean of their ends, of the first step with least output error without feedback: AWQ,
/// arXiv 2306.00978, llm-awq/awq/quantize/auto_scale.py. On up to `threads` threads.
/// @throws std::invalid_argument without tokens, or if the format depends on importance
std::vector<double> searched_factors(const StoredFormat& format, const Shape& shape,
                                     std::span<const float> values, const LayerInputs& inputs,
                                     unsigned threads = 1);

}  // namespace equarx::stored
