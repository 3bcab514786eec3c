#include "base/process/streamed_program.hpp"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/os/pipe.hpp"
#include "base/process/stop_signals.hpp"

namespace equarx::process {
namespace {

constexpr int kPollMilliseconds = 50;

/// Replaces a forked child by the program, in a process group of its own.
[[noreturn]] void become(char* const* command, const os::Pipe& messages, pid_t parent) {
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (getppid() != parent) _exit(EXIT_FAILURE);  // the parent ended meanwhile
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGPIPE}) std::signal(signal, SIG_DFL);
  const int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
  dup2(nothing, STDIN_FILENO);
  dup2(STDERR_FILENO, STDOUT_FILENO);
  dup2(messages.in.number(), STDERR_FILENO);
  execvp(command[0], command);
  dprintf(STDERR_FILENO, "cannot run %s: %s\n", command[0], std::strerror(errno));
  constexpr int kCannotRun = 127;  // as shells
  _exit(kCannotRun);
}

pid_t start(std::vector<std::string> command, const os::Pipe& messages) {
  std::vector<char*> pointers;
  for (std::string& argument : command) pointers.push_back(argument.data());
  pointers.push_back(nullptr);
  std::fflush(nullptr);
  const pid_t parent = getpid();
  const pid_t child = fork();
  if (child < 0) throw std::system_error(errno, std::generic_category(), "starting a program");
  if (child == 0) become(pointers.data(), messages, parent);
  setpgid(child, child);  // also set by the child; the first call counts
  return child;
}

/// Passes lines on, except the last.
class Lines {
 public:
  explicit Lines(const std::function<void(const std::string&)>& message) : message_(message) {}

  void add(std::string_view text) {
    for (const char c : text) {
      if (c == '\n')
        finish();
      else
        line_ += c;
    }
  }

  std::string last() {
    finish();
    return std::move(held_);
  }

 private:
  void finish() {
    if (line_.find_first_not_of(" \t\r") != std::string::npos) {
      if (!held_.empty()) message_(held_);
      held_ = line_;
    }
    line_.clear();
  }

  const std::function<void(const std::string&)>& message_;
  std::string line_;
  std::string held_;
};

/// Reads once from a pipe, waiting for a short time. Returns false if nothing came.
bool read_some(os::FileDescriptor& pipe, int milliseconds, Lines& lines) {
  pollfd waited{.fd = pipe.number(), .events = POLLIN, .revents = 0};  // ignored if closed
  if (poll(&waited, 1, milliseconds) <= 0) return false;
  std::array<char, 4096> buffer{};
  const ssize_t count = read(pipe.number(), buffer.data(), buffer.size());
  if (count > 0) lines.add({buffer.data(), static_cast<std::size_t>(count)});
  if (count == 0) pipe.close();
  return count > 0;
}

std::optional<int> status_if_ended(pid_t child) {
  int status = 0;
  return waitpid(child, &status, WNOHANG) == child ? std::optional(status) : std::nullopt;
}

}  // namespace

ProgramEnd run_streamed(const std::vector<std::string>& command,
                        const std::function<void(const std::string& line)>& message,
                        std::chrono::milliseconds patience) {
  using Clock = std::chrono::steady_clock;
  const StopSignals signals;
  os::Pipe messages = os::open_pipe();
  fcntl(messages.out.number(), F_SETFD, FD_CLOEXEC);
  fcntl(messages.in.number(), F_SETFD, FD_CLOEXEC);
  const pid_t child = start(command, messages);
  messages.in.close();
  Lines lines(message);
  ProgramEnd end;
  Clock::time_point stopped;
  std::optional<int> status;
  while (!(status = status_if_ended(child))) {
    read_some(messages.out, kPollMilliseconds, lines);
    if (end.signal == 0 && signals.received() != 0) {
      end.signal = signals.received();
      stopped = Clock::now();
      kill(-child, end.signal);
    }
    if (end.signal != 0 && Clock::now() - stopped > patience) kill(-child, SIGKILL);
  }
  while (read_some(messages.out, 0, lines)) {
  }
  if (end.signal != 0) kill(-child, SIGKILL);  // children that outlived the program
  end.status = *status;
  end.last_message = lines.last();
  return end;
}

}  // namespace equarx::process
