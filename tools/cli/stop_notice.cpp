#include "tools/cli/stop_notice.hpp"

#include <string>
#include <string_view>

#include <fmt/format.h>
#include <unistd.h>

#include "base/os/unfinished_files.hpp"
#include "tools/cli/status_line.hpp"

namespace equarx::cli {
namespace {

// Preformatted messages: the handler must not allocate.
struct Line {
  int signal = 0;
  std::string text;
};
std::array<Line, 3> lines{{{SIGINT, {}}, {SIGTERM, {}}, {SIGHUP, {}}}};

extern "C" void stop(int signal) {
  os::remove_unfinished_files();
  for (const Line& line : lines)
    if (line.signal == signal) [[maybe_unused]]
      const ssize_t written = write(STDERR_FILENO, line.text.data(), line.text.size());
  raise(signal);  // the handler is reset, so the default action follows
}

}  // namespace

StopNotice::StopNotice(std::string_view path) {
  const std::string outcome = path.empty() ? "no result" : fmt::format("{} was not written", path);
  // Overwrites a progress line.
  const std::string_view erase = can_overwrite() ? kEraseLine : "";
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const int signal = lines[i].signal;
    lines[i].text = fmt::format("{}equarx-sim: stopped by signal {}; {}\n", erase, signal, outcome);
    previous_[i].signal = signal;
    sigaction(signal, nullptr, &previous_[i].action);
    if (previous_[i].action.sa_handler == SIG_IGN) continue;  // as under nohup
    struct sigaction action {};
    action.sa_handler = stop;
    action.sa_flags = static_cast<int>(SA_RESETHAND | SA_NODEFER);
    sigaction(signal, &action, nullptr);
  }
}

StopNotice::~StopNotice() {
  for (const Previous& previous : previous_) sigaction(previous.signal, &previous.action, nullptr);
}

}  // namespace equarx::cli
