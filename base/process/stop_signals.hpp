// Termination signals of long commands.
#pragma once

#include <array>
#include <csignal>

namespace equarx::process {

/// During its lifetime, SIGINT, SIGTERM and SIGHUP are recorded instead of ending the process, and
/// writing to a closed pipe is an ordinary error (SIGPIPE is ignored).
class StopSignals {
 public:
  StopSignals();
  ~StopSignals();
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;

  /// The last signal received; 0 if none.
  int received() const;

 private:
  struct Previous {
    int signal = 0;
    struct sigaction action {};
  };
  std::array<Previous, 4> previous_;
};

}  // namespace equarx::process
