// Feed-forward networks of experts on one chip.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "models/workloads/layer_parts.hpp"
#include "models/workloads/operation.hpp"
#include "models/workloads/transformer.hpp"

namespace equarx::workloads {

/// How rows of tokens become rows of experts, and back.
enum class Dispatch : std::uint8_t {
  permute,  ///< gathers rows, and adds up weighted ones
  /// Products with one-hot masks (GShard, arXiv 2006.16668; MaxText without megablox).
  einsum,
};

/// Implementation of experts.
struct ExpertMethod {
  std::uint32_t chips = 1;  ///< that the experts are divided over, each with tokens of its own
  /// Rows of the experts of the busiest chip relative to the mean; at least 1.
  double imbalance = 1.0;
  /// Rows of every expert relative to the mean, whatever the router selects: further rows are
  /// dropped. std::nullopt: experts take all rows.
  std::optional<double> capacity_factor = {};
  Dispatch dispatch = Dispatch::permute;
  /// Tokens among which each expert has its capacity; 0: all of a chip.
  double group = 0.0;
};

/// Rows and matrices of the experts of a chip.
struct ExpertLoad {
  double copies = 0.0;    ///< rows that the tokens of a chip become, of all experts
  double rows = 0.0;      ///< rows that the experts of the busiest chip take
  double stored = 0.0;    ///< experts of a chip
  double used = 0.0;      ///< expected number that take a row
  double capacity = 0.0;  ///< rows of all experts for a group of tokens; 0: not limited
};

/// Load under a router that selects all experts alike, for `tokens` tokens of each chip. An expert
/// is used with probability 1 - (1 - top_k / count)^n, with the tokens n of all chips.
/// @throws std::invalid_argument if the chips do not divide the experts
/// @throws exceptions::UserError at "capacity_factor" for a capacity of less than one row
ExpertLoad expert_load(const Transformer& model, const ExpertMethod& method, double tokens);

/// GEMM of the router, whose weights no scheme quantizes.
inline constexpr std::string_view kRouter = "router";

/// Router, dispatch, experts, shared experts and combination, without the sum over tensor-parallel
/// chips. With several chips of experts, all-to-alls named "dispatch" and "combine" enclose the
/// operations of the experts; shared experts, named "shared_...", precede them.
std::vector<Operation> expert_operations(const LayerContext& context, const ExpertMethod& method);

}  // namespace equarx::workloads
