// The folder that a sweep or a study fills, and the computing of what is missing in it.
#pragma once

#include <filesystem>
#include <string>

#include "experiments/output/folder_lock.hpp"
#include "experiments/sweep/point_set.hpp"
#include "experiments/sweep/runner.hpp"
#include "experiments/sweep/store.hpp"

namespace equarx::cli {

/// Exit code of a command that computed points of which some failed.
inline constexpr int kExitPointsFailed = 1;

/// Processes for `--jobs`: as many as are asked for, or as there are cores for 0.
std::size_t jobs_or_cores(std::size_t jobs);

/// Says on standard error which lines of a file of results cannot be used, if there are any.
void report_broken(const sweep::SweepStore& store);

/// Holds the folder against other processes while it lives.
class ResultsFolder {
 public:
  /// Makes the folder, and opens what is in it; with `fresh`, moves that aside.
  /// @throws InputError if the folder cannot be written to, is held by another process, or has results of
  /// another version.
  ResultsFolder(const std::filesystem::path& folder, bool fresh);

  sweep::SweepStore& store() { return store_; }

  /// Computes what is missing, and shows how far it is. Says so if a signal ends it.
  sweep::SweepOutcome compute(const sweep::PointSet& points, const sweep::SweepOptions& options);
  /// Writes results.csv. Returns its path.
  std::filesystem::path write_table(const sweep::PointSet& points,
                                    const sweep::SweepOutcome& outcome) const;

 private:
  std::filesystem::path folder_;
  output::FolderLock lock_;
  sweep::SweepStore store_;
};

/// What a shell would say of a command that this signal ended.
int exit_code_of_signal(int signal);

}  // namespace equarx::cli
