// Progress of a sweep on standard error.
#pragma once

#include <string>

#include "experiments/sweep/runner.hpp"
#include "tools/cli/status_line.hpp"

namespace equarx::cli {

/// Points, rate and remaining time, with a bar if it fits.
class SweepProgress {
 public:
  /// Cheap; output is rate-limited.
  void show(const sweep::SweepStatus& status);

 private:
  StatusLine line_;
};

/// "312 of 1000 points (31 %), 2 failed, 45.2 per second, 15 s left", after `seconds`. The share is
/// that of the estimated work.
std::string progress_text(const sweep::SweepStatus& status, double seconds);

}  // namespace equarx::cli
