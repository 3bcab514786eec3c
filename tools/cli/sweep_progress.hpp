// How far a sweep is, on standard error.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>

#include "experiments/sweep/runner.hpp"

namespace equarx::cli {

/// A bar that is drawn over on a terminal; elsewhere a line every few seconds.
class SweepProgress {
 public:
  SweepProgress();
  ~SweepProgress();
  SweepProgress(const SweepProgress&) = delete;
  SweepProgress& operator=(const SweepProgress&) = delete;

  /// May be called as often as one likes.
  void show(const sweep::SweepStatus& status);

 private:
  using Clock = std::chrono::steady_clock;

  bool watched_;
  Clock::time_point start_ = Clock::now();
  Clock::time_point next_;
};

/// "312 of 1000 points (31 %), 2 failed, 45.2 per second, 15 s left", after `seconds`.
std::string progress_text(const sweep::SweepStatus& status, double seconds);

}  // namespace equarx::cli
