// equarx-sim reproduce: a study, beside what was expected of it.
#pragma once

#include <cstddef>
#include <string>

namespace equarx::cli {

/// Of `equarx-sim reproduce`.
struct ReproduceArguments {
  std::string study;     ///< folder with a study.json
  std::string output;    ///< folder for the results; empty: results/NAME, after the study
  std::size_t jobs = 0;  ///< 0: as many as cores
  bool strict = false;
  bool fresh = false;  ///< move older results aside
  bool retry = false;  ///< compute points again that failed
};

/// Returns the exit code: 0; 1 if points failed or, with `strict`, a row is outside its tolerance; 128 + the
/// signal that ended it. @throws input::InputError
int reproduce(const ReproduceArguments& arguments);

}  // namespace equarx::cli
