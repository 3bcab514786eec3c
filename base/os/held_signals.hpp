// Deferral of termination signals.
#pragma once

#include <csignal>

namespace equarx::os {

/// Blocks SIGINT, SIGTERM and SIGHUP for the current thread during its lifetime; pending signals
/// are delivered on destruction. Makes short sequences of system calls atomic with respect to these
/// signals.
class HeldSignals {
 public:
  HeldSignals();
  HeldSignals(const HeldSignals&) = delete;
  HeldSignals& operator=(const HeldSignals&) = delete;
  ~HeldSignals();

 private:
  sigset_t before_;
};

}  // namespace equarx::os
