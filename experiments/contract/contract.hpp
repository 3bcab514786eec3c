// The numerical contract of collectives: types, roundings, ranges, and whose bits agree.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "experiments/config/config.hpp"
#include "models/numerics/codec/ulp_counts.hpp"
#include "models/values/rounding_paths.hpp"
#include "models/values/value_executor.hpp"

namespace equarx::contract {

/// Windows, and elements in each, whose bits are compared where a collective runs again with other
/// sizes, cuts or ranks: spread evenly over the smaller of two tensors.
inline constexpr std::uint64_t kWindows = 16;
inline constexpr std::uint64_t kWindowsOfSize = 4;  ///< for each size
inline constexpr std::uint64_t kWindowElements = 4096;
/// Elements whose bits are compared between collectives.
inline constexpr std::uint64_t kElementsBetweenCollectives = 1 << 22;

/// The result for other sizes of the tensor, against that for the largest.
struct SizeCheck {
  std::uint64_t bytes = 0;
  std::string algorithm;     ///< that ran
  double time_s = 0.0;       ///< simulated
  std::string obstacle;      ///< why it does not run at this size; empty if it does
  numerics::UlpCounts ulps;  ///< elements in kWindowsOfSize windows of this size
};

/// The result for fewer ranks, whose inputs are sums of the ranks' inputs (TensorSource::grouped()).
struct RanksCheck {
  std::uint32_t ranks = 0;
  std::string obstacle;  ///< why it does not run on these; empty if it does
  numerics::UlpCounts ulps;
};

/// The contract of one collective.
struct CollectiveContract {
  std::string label;
  std::string algorithm;  ///< that ran
  double time_s = 0.0;
  values::RoundingPath path;
  /// By theory (values::RoundingPath); std::nullopt for values that are not independent and normal,
  /// and for formats without a theory.
  std::optional<double> expected_nmse;
  values::ValueResult values;  ///< with ranges and ulps
  bool deterministic = true;   ///< no random rounding
  bool same_at_all_cuts = true;
  std::uint32_t cuts = 0;  ///< other cuts that were tried
  std::vector<SizeCheck> sizes;
  std::vector<RanksCheck> fewer_ranks;
  /// By collective: elements that differ from its result, of the first
  /// kElementsBetweenCollectives.
  std::vector<numerics::UlpCounts> against;

  /// True if every size that runs has the bits of the largest.
  bool same_at_all_sizes() const;
  /// True if any number of ranks that runs has the same bits.
  bool same_for_all_ranks() const;
};

/// Bits if the fastest of the collectives runs at each size.
struct Switching {
  std::vector<SizeCheck> sizes;  ///< `algorithm`: label of the fastest
  bool same_at_all_sizes = true;
};

/// The contracts of a configuration's collectives.
struct Contract {
  config::ExperimentConfig config;
  std::vector<CollectiveContract> collectives;
  std::optional<Switching> switching;  ///< with several collectives and sizes
};

/// Options of make_contract().
struct ContractOptions {
  unsigned threads = 0;  ///< for values; 0: one per core
  bool sizes = true;     ///< try other sizes
  bool ranks = true;     ///< try fewer ranks
  bool times = true;     ///< simulate; otherwise the first candidate of each plan counts
  bool values = true;    ///< compute CollectiveContract::values and ::against
  bool cuts = true;      ///< try other cuts
  double sample = 1.0;   ///< share of the tensor for `values`; below 1 without ::against
  bool to_first_difference = false;  ///< stop trying sizes and ranks whose bits differ
  /// Called before each part of the work with a line that describes it.
  std::function<void(const std::string&)> progress = {};
};

/// Checks that a configuration has contracts. @throws input::InputError for collectives without
/// sums, a sample, faults
void check(const config::ExperimentConfig& config);

/// Computes the contracts: values of all elements, then of some for other sizes from 1 KiB to 256 MiB
/// (as far as files have elements), cuts, and 1, 2, 4, ... ranks.
/// @throws input::InputError as check(), and for switched off numerics
Contract make_contract(const config::ExperimentConfig& config, const ContractOptions& options);

}  // namespace equarx::contract
