// Runs a program in a child process, without a shell, and captures its output.
#pragma once

#include <array>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

#include <fcntl.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

namespace equarx::testing {

/// A new empty directory, deleted with its contents at the end of the test.
class TemporaryDirectory {
 public:
  TemporaryDirectory() {
    std::string path = (std::filesystem::temp_directory_path() / "equarx-test-XXXXXX").string();
    if (mkdtemp(path.data()) == nullptr)
      throw std::system_error(errno, std::generic_category(), "mkdtemp");
    path_ = path;
  }
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
  ~TemporaryDirectory() { std::filesystem::remove_all(path_); }

  const std::filesystem::path& path() const { return path_; }

  /// Writes a file and returns its path.
  std::string write(const std::string& name, const std::string& content) const {
    std::ofstream(path_ / name, std::ios::binary) << content;
    return (path_ / name).string();
  }

 private:
  std::filesystem::path path_;
};

/// Returns all bytes of a file.
inline std::string content_of(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// Counts the files in a directory and its subdirectories.
inline std::size_t file_count(const std::filesystem::path& directory) {
  return static_cast<std::size_t>(
      std::distance(std::filesystem::recursive_directory_iterator(directory), {}));
}

struct CommandResult {
  int exit_code = -1;  ///< the negated signal number if terminated by a signal
  std::string out;
  std::string err;
  std::size_t files_left = 0;  ///< number of files in its working directory
};

struct CommandOptions {
  std::string input = {};  ///< on standard input
  /// File for standard output, such as /dev/full; if empty, it is captured in the result.
  std::optional<std::string> output = std::nullopt;
  bool close_output = false;
};

/// Runs a program, by its path, in an empty working directory.
inline CommandResult run_command(const std::vector<std::string>& command,
                                 const CommandOptions& options = {}) {
  const TemporaryDirectory files;  // for redirected input and output
  const TemporaryDirectory work;   // working directory of the command
  const std::string in = files.write("in", options.input);
  const std::string out = options.output.value_or((files.path() / "out").string());
  const std::string err = (files.path() / "err").string();

  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addchdir_np(&actions, work.path().c_str());
  constexpr int kWrite = O_WRONLY | O_CREAT;
  constexpr mode_t kMode = 0600;
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, in.c_str(), O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, out.c_str(), kWrite, kMode);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, err.c_str(), kWrite, kMode);
  if (options.close_output) posix_spawn_file_actions_addclose(&actions, STDOUT_FILENO);

  std::vector<char*> arguments;
  for (const std::string& argument : command)
    arguments.push_back(const_cast<char*>(argument.c_str()));
  arguments.push_back(nullptr);
  pid_t child = 0;
  const int failure =
      posix_spawn(&child, arguments[0], &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (failure != 0) throw std::system_error(failure, std::generic_category(), command[0]);
  int status = 0;
  while (waitpid(child, &status, 0) < 0)
    if (errno != EINTR) throw std::system_error(errno, std::generic_category(), "waitpid");

  const auto content = [](const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(file), {});
  };
  CommandResult result;
  result.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  if (!options.output) result.out = content(out);
  result.err = content(err);
  result.files_left =
      static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(work.path()), {}));
  return result;
}

}  // namespace equarx::testing
