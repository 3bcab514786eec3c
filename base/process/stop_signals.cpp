#include "base/process/stop_signals.hpp"

namespace equarx::process {
namespace {

volatile std::sig_atomic_t last_signal = 0;

extern "C" void keep_signal(int signal) { last_signal = signal; }

}  // namespace

StopSignals::StopSignals() : previous_{{{SIGINT, {}}, {SIGTERM, {}}, {SIGHUP, {}}, {SIGPIPE, {}}}} {
  last_signal = 0;
  for (Previous& previous : previous_) {
    struct sigaction action {};  // no SA_RESTART: interrupts blocking calls
    action.sa_handler = previous.signal == SIGPIPE ? SIG_IGN : keep_signal;
    sigaction(previous.signal, nullptr, &previous.action);
    // A signal that is already ignored (nohup) stays ignored.
    if (previous.action.sa_handler != SIG_IGN) sigaction(previous.signal, &action, nullptr);
  }
}

StopSignals::~StopSignals() {
  for (const Previous& previous : previous_) sigaction(previous.signal, &previous.action, nullptr);
}

int StopSignals::received() const { return last_signal; }

}  // namespace equarx::process
