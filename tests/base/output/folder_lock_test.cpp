#include "base/output/folder_lock.hpp"

#include <cstdlib>

#include <sys/wait.h>
#include <unistd.h>

#include "base/input/errors.hpp"
#include "tests/support/errors.hpp"
#include "tests/support/run_command.hpp"

namespace equarx::output::folder_lock_test {
namespace {

using testing::message_of;
using testing::TemporaryDirectory;

/// True if another process can lock the folder; record locks never conflict within a process.
bool is_free_for_others(const std::filesystem::path& folder) {
  const pid_t child = fork();
  if (child == 0) {
    try {
      const FolderLock lock(folder);
      _exit(EXIT_SUCCESS);
    } catch (const input::InputError&) {
      _exit(EXIT_FAILURE);
    }
  }
  REQUIRE(child > 0);
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  return WIFEXITED(status) && WEXITSTATUS(status) == EXIT_SUCCESS;
}

TEST_CASE("a locked folder is refused to others until it is released") {
  const TemporaryDirectory directory;
  REQUIRE(is_free_for_others(directory.path()));
  {
    const FolderLock lock(directory.path());
    REQUIRE_FALSE(is_free_for_others(directory.path()));
  }
  REQUIRE(is_free_for_others(directory.path()));
}

TEST_CASE("a process that ends abruptly releases its folder") {
  const TemporaryDirectory directory;
  const pid_t child = fork();
  if (child == 0) {
    const FolderLock lock(directory.path());
    _exit(EXIT_SUCCESS);  // no destructor runs
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK_NOTHROW(FolderLock(directory.path()));
}

TEST_CASE("a missing folder is refused by name") {
  CHECK_THAT(message_of([] { FolderLock("/nowhere/at/all"); }),
             ContainsSubstring("cannot write to /nowhere/at/all"));
}

}  // namespace
}  // namespace equarx::output::folder_lock_test
