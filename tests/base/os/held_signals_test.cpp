#include "base/os/held_signals.hpp"

#include "tests/catch.hpp"

namespace equarx::os::held_signals_test {
namespace {

volatile std::sig_atomic_t came = 0;

extern "C" void keep(int signal) { came = signal; }

TEST_CASE("held signals are delivered on release") {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    const auto before = std::signal(signal, keep);
    came = 0;
    {
      const HeldSignals held;
      std::raise(signal);
      CHECK(came == 0);
      const HeldSignals inner;
    }
    CHECK(came == signal);
    std::signal(signal, before);
  }
}

TEST_CASE("nested holds release signals at the outermost") {
  const auto before = std::signal(SIGHUP, keep);
  came = 0;
  {
    const HeldSignals held;
    std::raise(SIGHUP);
    { const HeldSignals inner; }
    CHECK(came == 0);
  }
  CHECK(came == SIGHUP);
  std::signal(SIGHUP, before);
}

}  // namespace
}  // namespace equarx::os::held_signals_test
