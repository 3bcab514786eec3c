// How far a command is that does one thing after the other.
#pragma once

#include <string>

#include "tools/cli/status_line.hpp"

namespace equarx::cli {

/// What is being done, how much of that is done, and how long the rest will take.
class ProgressLine {
 public:
  /// Begins a part of the work.
  void show(const std::string& what);
  /// How much of the part is done, 0 to 1. May be called as often as one likes.
  void share(double done);

 private:
  StatusLine line_;
  std::string what_;
  double began_s_ = 0.0;
};

/// "4 of 4: int8: simulating 4032 messages: 31 %, 15 s left" after `seconds` of it.
std::string progress_text(const std::string& what, double done, double seconds);

}  // namespace equarx::cli
