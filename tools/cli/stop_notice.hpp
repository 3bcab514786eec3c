// Signal handling: message and cleanup of partial output.
#pragma once

#include <array>
#include <csignal>
#include <string_view>

namespace equarx::cli {

/// During its lifetime SIGINT, SIGTERM and SIGHUP print a message on standard error and remove
/// unfinished files before terminating the process as usual. At most one instance, created before
/// the first such file.
class StopNotice {
 public:
  /// `path`: output file of the command; empty if it only prints
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
