// Runs of collectives that several points have in common, such as their baseline.
#pragma once

#include <cstddef>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/input/object_reader.hpp"
#include "experiments/config/config.hpp"
#include "experiments/run/results.hpp"

namespace equarx::sweep {

/// Runs experiments one after another, and keeps the run of each collective for later experiments
/// with the same collective, tensor and machine. Same results as run::run_experiment().
class KnownRuns {
 public:
  static constexpr std::size_t kMostRuns = 1024;

  /// True if the runs of an experiment depend on nothing but their own collective, tensor and machine:
  /// neither values nor intervals are computed, and no files are read.
  static bool supports(const config::ExperimentConfig& config);

  /// Runs of the collectives. `resolved`: the configuration as JSON. Precondition: supports(). @throws
  /// like plan::make_plan() and run::run_experiment()
  std::vector<run::RunResult> runs(const config::ExperimentConfig& config,
                                   const input::Json& resolved);

  /// Number of kept runs; all are dropped when there are too many.
  std::size_t size() const { return known_.size(); }

 private:
  void keep(const std::string& key, const run::RunResult& run);

  std::unordered_map<std::string, run::RunResult> known_;
};

}  // namespace equarx::sweep
