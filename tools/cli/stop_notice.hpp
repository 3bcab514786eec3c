// What becomes of a command's output when a signal ends it.
#pragma once

#include <array>
#include <csignal>

#include "experiments/output/output_file.hpp"

namespace equarx::cli {

/// While it lives, SIGINT, SIGTERM and SIGHUP end the process as ever, but say so in a line on standard error and
/// remove the file that is being written. There is one at a time.
class StopNotice {
 public:
  /// `file` is what the command writes; nullptr if it only prints.
  explicit StopNotice(const output::OutputFile* file);
  ~StopNotice();
  StopNotice(const StopNotice&) = delete;
  StopNotice& operator=(const StopNotice&) = delete;

 private:
  struct Previous {
    int signal = 0;
    struct sigaction action {};
  };
  std::array<Previous, 3> previous_;
};

}  // namespace equarx::cli
