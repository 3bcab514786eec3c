// What becomes of a command's output when a signal ends it.
#pragma once

#include <array>
#include <csignal>
#include <string_view>

namespace equarx::cli {

/// While it lives, SIGINT, SIGTERM and SIGHUP end the process as ever, but say so in a line on standard error and
/// remove files that are being written. There is one at a time, from before the first of these files is made.
class StopNotice {
 public:
  /// `path` is what the command writes; empty if it only prints.
  explicit StopNotice(std::string_view path);
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
