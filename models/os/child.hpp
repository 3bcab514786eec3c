// How processes that were forked from this one end.
#pragma once

#include <optional>
#include <string>

#include <sys/types.h>

namespace equarx::os {

/// Waits for the end of a child process, however often signals interrupt it. Returns its status as waitpid() has
/// it; none if this process has no such child.
std::optional<int> wait_for_end(pid_t child);

/// Whether the status is that of a process that returned 0.
bool succeeded(int status);

/// A status in words: "signal 11 (Segmentation fault)", or "exit code 1".
std::string describe_end(int status);

}  // namespace equarx::os
