#include "base/os/child.hpp"

#include <csignal>

#include <unistd.h>

#include "tests/catch.hpp"

namespace equarx::os::child_test {
namespace {

/// Status of a child that only runs `work`.
int status_of(void (*work)()) {
  const pid_t child = fork();
  if (child == 0) {
    work();
    _exit(0);
  }
  REQUIRE(child > 0);
  const std::optional<int> status = wait_for_end(child);
  REQUIRE(status);
  return *status;
}

TEST_CASE("the termination of a child is reported with a description") {
  const int good = status_of([] {});
  CHECK(succeeded(good));
  CHECK(describe_end(good) == "exit code 0");
  const int bad = status_of([] { _exit(3); });
  CHECK_FALSE(succeeded(bad));
  CHECK(describe_end(bad) == "exit code 3");
  const int killed = status_of([] {
    std::signal(SIGTERM, SIG_DFL);
    raise(SIGTERM);
  });
  CHECK_FALSE(succeeded(killed));
  CHECK(describe_end(killed) == "signal 15 (Terminated)");
}

TEST_CASE("waiting for a process that is not a child fails") {
  CHECK_FALSE(wait_for_end(getpid()));
}

}  // namespace
}  // namespace equarx::os::child_test
