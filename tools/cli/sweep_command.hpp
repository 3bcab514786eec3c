// equarx-sim sweep: many points of a configuration, side by side.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace equarx::cli {

/// Of `equarx-sim sweep`.
struct SweepArguments {
  std::string file;
  std::vector<std::string> overrides;  ///< of the base: "pointer=value"
  std::string output;  ///< folder; empty: results/NAME, after the sweep, of a shard a folder in it
  std::size_t jobs = 0;  ///< 0: as many as cores
  std::string shard;     ///< "2/8"; empty: all points
  bool yes = false;      ///< however many points there are
  bool dry_run = false;
  bool fresh = false;  ///< move older results aside
  bool retry = false;  ///< compute points again that failed
};

/// Returns the exit code: 0, 1 if points failed, 128 + the signal that ended it.
/// @throws input::InputError
int sweep(const SweepArguments& arguments);

}  // namespace equarx::cli
