// Golden vectors: inputs of collectives, every value on the way, and the results of every rank.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "experiments/config/config.hpp"
#include "experiments/vectors/cases.hpp"
#include "models/collectives/program.hpp"
#include "models/values/rounding_paths.hpp"
#include "models/values/value_record.hpp"

namespace equarx::vectors {

/// Most ranks; files grow with their square.
inline constexpr std::uint32_t kMostRanks = 64;
/// Most elements of the configuration's tensor in the case kGiven.
inline constexpr std::uint64_t kMostGiven = 2048;

/// A collective on the inputs of a case.
struct CaseVectors {
  CaseInfo info;
  collectives::Program program;
  std::vector<std::vector<float>> inputs;  ///< by rank, values of the tensor's type
  std::vector<float> residual;             ///< that the collective adds; empty without one
  values::ValueRecord record;
  std::vector<float> rounded_once;  ///< the exact sum in the tensor's type
};

/// A case whose size is impossible for a collective.
struct NotRun {
  CaseInfo info;
  std::string reason;
};

/// One collective on all cases.
struct CollectiveVectors {
  config::CollectiveConfig config;  ///< with a concrete algorithm
  values::RoundingPath path;        ///< without expected errors
  bool deterministic = true;        ///< no random rounding
  std::vector<CaseVectors> cases;
  std::vector<NotRun> not_run;
};

/// The golden vectors of a configuration.
struct Vectors {
  config::ExperimentConfig config;
  std::uint32_t ranks = 0;
  std::vector<CollectiveVectors> collectives;
};

/// Computes the collectives of a configuration on these cases. Algorithms that a configuration leaves
/// open are those for the size of its tensor.
/// @throws input::InputError for collectives without sums, more than kMostRanks ranks, and what
/// run refuses
Vectors make_vectors(const config::ExperimentConfig& config, const std::vector<CaseInfo>& cases,
                     const std::function<void(const std::string&)>& progress);

}  // namespace equarx::vectors
