// Errors of attention over stored keys and values.
#pragma once

#include "models/attention/cache.hpp"

namespace equarx::attention {

/// Errors of the outputs softmax(q K^T / sqrt(head size)) V.
struct Errors {
  double keys_nmse = 0.0;       ///< with stored keys and exact values
  double values_nmse = 0.0;     ///< with exact keys and stored values
  double both_nmse = 0.0;       ///< with stored keys and values
  double largest_change = 0.0;  ///< of a probability, by stored keys
};

/// Compares in FP64; the result does not depend on `threads`. @throws std::invalid_argument for
/// sizes that disagree, values that are not finite, and causal queries of more rows than tokens
Errors errors(const Cache& exact, const Cache& stored, const Queries& queries,
              unsigned threads = 1);

}  // namespace equarx::attention
