#include "base/os/threads.hpp"

#include <atomic>
#include <cstdlib>

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/catch.hpp"

namespace equarx::threads_test {
namespace {

using equarx::os::add_threads;

TEST_CASE("all threads run the work, and 0 threads are allowed") {
  std::atomic<int> done = 0;
  std::vector<std::jthread> threads;
  add_threads(threads, 3, [&] { ++done; });
  CHECK(threads.size() == 3);
  threads.clear();
  CHECK(done == 3);
  add_threads(threads, 0, [&] { ++done; });
  CHECK(threads.empty());
}

/// Returns true if fewer threads than requested start in a child process with memory for the stacks
/// of only a few dozen threads.
bool starts_fewer_threads() {
  constexpr std::size_t kRequested = 1000;
  const pid_t child = fork();
  if (child == 0) {
    const rlimit most = {std::size_t{400} << 20, RLIM_INFINITY};
    setrlimit(RLIMIT_AS, &most);
    std::vector<std::jthread> threads;
    std::atomic<bool> over = false;
    add_threads(threads, kRequested, [&] { over.wait(false); });
    const bool fewer = threads.size() < kRequested;
    over = true;
    over.notify_all();
    threads.clear();
    _exit(fewer ? EXIT_SUCCESS : EXIT_FAILURE);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == EXIT_SUCCESS;
}

TEST_CASE("fewer threads start without an error when memory is short") {
  CHECK(starts_fewer_threads());
}

}  // namespace
}  // namespace equarx::threads_test
