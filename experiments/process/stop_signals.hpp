// Signals that ask a long command to end.
#pragma once

#include <array>
#include <csignal>

namespace equarx::process {

/// While it lives, SIGINT, SIGTERM and SIGHUP do not end the process but are kept, and writing into a pipe
/// that nobody reads is an error like others.
class StopSignals {
 public:
  StopSignals();
  ~StopSignals();
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;

  /// The last signal that came; 0 if none did.
  int received() const;

 private:
  struct Previous {
    int signal = 0;
    struct sigaction action {};
  };
  std::array<Previous, 4> previous_;
};

}  // namespace equarx::process
