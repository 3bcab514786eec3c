// Termination of child processes.
#pragma once

#include <optional>
#include <string>

#include <sys/types.h>

namespace equarx::os {

/// Waits for a child process to terminate, retrying on EINTR. Returns its waitpid() status;
/// std::nullopt if this process has no such child.
std::optional<int> wait_for_end(pid_t child);

/// True if the process exited with code 0.
bool succeeded(int status);

/// Formats a status: "signal 11 (Segmentation fault)" or "exit code 1".
std::string describe_end(int status);

}  // namespace equarx::os
