// Errors of experts whose tokens and results are exchanged in few bits.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "models/experts/layer.hpp"
#include "models/stored/stored_format.hpp"

namespace equarx::experts {

/// Wire formats; bf16 if absent. A row is a token.
struct ExchangeFormats {
  std::optional<stored::StoredFormat> dispatch;
  std::optional<stored::StoredFormat> combine;
};

/// Errors as NMSE against bf16 in both directions.
struct ExchangeErrors {
  double dispatched_nmse = 0.0;  ///< of the tokens as received
  double combined_nmse = 0.0;    ///< of the experts' results as received, of exact tokens
  // NMSE of the weighted sums of the results, which the token's rank forms in FP32:
  double dispatch_nmse = 0.0;  ///< with dispatch encoded
  double combine_nmse = 0.0;   ///< with combine encoded
  double both_nmse = 0.0;
  /// Share of the tokens with another set of experts in the next layer: by a router drawn with the
  /// next seed, of the token plus the sum, scaled to unit power.
  double rerouted_tokens = 0.0;
  double rerouted_choices = 0.0;  ///< share of the choices of experts, likewise
};

/// `tokens`: rows of layer.shape.width elements, rounded to bf16 first. The result does not depend on
/// `threads`. @throws std::invalid_argument for sizes that disagree, values that are not finite, and
/// formats that need more than the values or do not divide them
ExchangeErrors exchange_errors(const Layer& layer, std::span<const float> tokens,
                               const ExchangeFormats& formats, std::uint64_t next_seed,
                               unsigned threads = 1);

}  // namespace equarx::experts
