#include "models/os/child.hpp"

#include <csignal>

#include <unistd.h>

#include "tests/catch.hpp"

namespace equarx::os::child_test {
namespace {

/// The status of a child that does only this.
int end_of(void (*life)()) {
  const pid_t child = fork();
  if (child == 0) {
    life();
    _exit(0);
  }
  REQUIRE(child > 0);
  const std::optional<int> status = wait_for_end(child);
  REQUIRE(status);
  return *status;
}

TEST_CASE("a child's end is known, with a description") {
  const int good = end_of([] {});
  CHECK(succeeded(good));
  CHECK(describe_end(good) == "exit code 0");
  const int bad = end_of([] { _exit(3); });
  CHECK_FALSE(succeeded(bad));
  CHECK(describe_end(bad) == "exit code 3");
  const int killed = end_of([] {
    std::signal(SIGTERM, SIG_DFL);
    raise(SIGTERM);
  });
  CHECK_FALSE(succeeded(killed));
  CHECK(describe_end(killed) == "signal 15 (Terminated)");
}

TEST_CASE("what is no child has no end") { CHECK_FALSE(wait_for_end(getpid())); }

}  // namespace
}  // namespace equarx::os::child_test
