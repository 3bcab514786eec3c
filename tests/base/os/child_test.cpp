#include "base/os/child.hpp"

#include <csignal>
#include <filesystem>
#include <fstream>

#include <unistd.h>

#include "base/os/temporary_folder.hpp"
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

TEST_CASE("a program runs in its folder, with its standard error in a file") {
  const TemporaryFolder folder;
  const std::filesystem::path messages = folder.path() / "messages";
  const auto run = [&](const std::string& script) {
    return run_program({"sh", "-c", script}, folder.path(), messages);
  };
  const auto bad = run("pwd -P >&2; echo lost; exit 3");
  REQUIRE(bad);
  CHECK(describe_end(*bad) == "exit code 3");
  std::string line;
  std::ifstream lines(messages);
  std::getline(lines, line);
  CHECK(line == std::filesystem::canonical(folder.path()));
  CHECK_FALSE(std::getline(lines, line));
  CHECK(succeeded(run("read line || exit 0; exit 1").value()));  // no input
  CHECK_FALSE(run_program({"no-such-program"}, folder.path(), messages));
}

}  // namespace
}  // namespace equarx::os::child_test
