// Child processes.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

namespace equarx::os {

/// Waits for a child process to terminate, retrying on EINTR. Returns its waitpid() status;
/// std::nullopt if this process has no such child.
std::optional<int> wait_for_end(pid_t child);

/// True if the process exited with code 0.
bool succeeded(int status);

/// Formats a status: "signal 11 (Segmentation fault)" or "exit code 1".
std::string describe_end(int status);

/// Runs a program, found on PATH, in `folder`, with its standard error in the file `messages` and no
/// other input and output, and waits for its end. Returns its waitpid() status; std::nullopt if it
/// cannot be run.
std::optional<int> run_program(const std::vector<std::string>& arguments,
                               const std::filesystem::path& folder,
                               const std::filesystem::path& messages);

}  // namespace equarx::os
