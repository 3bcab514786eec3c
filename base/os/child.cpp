#include "base/os/child.hpp"

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include <fmt/format.h>
#include <sys/wait.h>

namespace equarx::os {

std::optional<int> wait_for_end(pid_t child) {
  int status = 0;
  while (waitpid(child, &status, 0) < 0)
    if (errno != EINTR) return std::nullopt;
  return status;
}

bool succeeded(int status) { return WIFEXITED(status) && WEXITSTATUS(status) == EXIT_SUCCESS; }

std::string describe_end(int status) {
  if (WIFSIGNALED(status))
    return fmt::format("signal {} ({})", WTERMSIG(status), strsignal(WTERMSIG(status)));
  return fmt::format("exit code {}", WEXITSTATUS(status));
}

}  // namespace equarx::os
