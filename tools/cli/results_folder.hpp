// Results folder of a sweep or study: locking, storage, computation of missing points.
#pragma once

#include <filesystem>
#include <string>

#include "base/output/folder_lock.hpp"
#include "experiments/sweep/point_set.hpp"
#include "experiments/sweep/runner.hpp"
#include "experiments/sweep/store.hpp"

namespace equarx::cli {

/// Exit code if some points failed.
inline constexpr int kExitPointsFailed = 1;

/// Number of processes for `--jobs`; 0: number of cores.
std::size_t jobs_or_cores(std::size_t jobs);

/// Reports unusable lines of a results file on standard error.
void report_broken(const sweep::SweepStore& store);

/// Locks the folder against other processes during its lifetime.
class ResultsFolder {
 public:
  /// Creates the folder and opens its results; `fresh` moves them aside.
  /// @throws InputError if the folder is not writable, is locked by another process, or has results
  /// of another version
  ResultsFolder(const std::filesystem::path& folder, bool fresh);

  sweep::SweepStore& store() { return store_; }

  /// Computes missing points with progress output. Reports a signal that stops it.
  sweep::SweepOutcome compute(const sweep::PointSet& points, const sweep::SweepOptions& options);
  /// Writes results.csv. Returns its path.
  std::filesystem::path write_table(const sweep::PointSet& points,
                                    const sweep::SweepOutcome& outcome) const;

 private:
  std::filesystem::path folder_;
  output::FolderLock lock_;
  sweep::SweepStore store_;
};

/// Exit code as reported by shells for this signal: 128 + signal.
int exit_code_of_signal(int signal);

}  // namespace equarx::cli
