// Steps that a signal must not part.
#pragma once

#include <csignal>

namespace equarx::os {

/// While it lives, SIGINT, SIGTERM and SIGHUP do not come to this thread: they wait, and come when it ends. For a few
/// system calls between which something half done would be left behind.
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
