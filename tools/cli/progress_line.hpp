// Progress of a command that runs several parts in sequence.
#pragma once

#include <string>

#include "tools/cli/status_line.hpp"

namespace equarx::cli {

/// Shows the current part, its progress and the remaining time.
class ProgressLine {
 public:
  /// Starts a part.
  void show(const std::string& part);
  /// Updates the completed fraction of the part, 0 to 1. Cheap; output is rate-limited.
  void share(double done);

 private:
  StatusLine line_;
  std::string part_;
  double began_s_ = 0.0;
};

/// "4 of 4: int8: simulating 4032 messages: 31 %, 15 s left" after `seconds` of the part.
std::string progress_text(const std::string& part, double done, double seconds);

}  // namespace equarx::cli
