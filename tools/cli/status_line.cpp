#include "tools/cli/status_line.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/os/printable.hpp"
#include "tools/cli/messages.hpp"

namespace equarx::cli {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kRedraw{100};
constexpr milliseconds kLineInterval{10'000};
constexpr milliseconds kClientInterval{500};

/// Time between lines that are not overwritten. The Python package, which shows the newest one to
/// its user, asks for more of them.
milliseconds line_interval() {
  const char* progress = std::getenv("EQUARX_PROGRESS");
  return progress != nullptr && std::string_view(progress) == "lines" ? kClientInterval
                                                                      : kLineInterval;
}

/// The first `letters` characters of a UTF-8 text, without control sequences.
std::string shown(const std::string& text, std::size_t letters) {
  constexpr unsigned char kContinuation = 0x80;
  constexpr unsigned char kContinuationMask = 0xC0;
  std::string result;
  for (const char letter : os::printable(text)) {
    const auto byte = static_cast<unsigned char>(letter);
    const bool begins = (byte & kContinuationMask) != kContinuation;
    if (begins && letters-- == 0) break;
    result += letter;
  }
  return result;
}

}  // namespace

bool can_overwrite() {
  const char* terminal = std::getenv("TERM");
  return isatty(STDERR_FILENO) == 1 && terminal != nullptr && *terminal != '\0' &&
         std::string_view(terminal) != "dumb";
}

StatusLine::StatusLine()
    : overwritten_(can_overwrite()), next_(start_ + (overwritten_ ? kRedraw : line_interval())) {}

StatusLine::~StatusLine() {
  if (overwritten_) print_raw_message(kEraseLine);
}

void StatusLine::show(const std::string& text) {
  next_ = Clock::now() + (overwritten_ ? kRedraw : line_interval());
  if (overwritten_)
    print_raw_message(std::string(kEraseLine) + shown(text, width()));
  else
    print_message(fmt::format("equarx-sim: {}\n", shown(text, text.size())));
}

std::size_t StatusLine::width() const {
  constexpr std::size_t kUsual = 80;
  winsize size{};
  const bool known = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  return (known ? size.ws_col : kUsual) - 1;  // some terminals wrap after the last column
}

double StatusLine::seconds() const {
  return std::chrono::duration<double>(Clock::now() - start_).count();
}

std::string duration_text(double seconds) {
  constexpr std::int64_t kMinute = 60;
  constexpr std::int64_t kHour = 60 * kMinute;
  const auto whole = static_cast<std::int64_t>(std::ceil(seconds));
  if (whole >= kHour) return fmt::format("{} h {:02} min", whole / kHour, whole % kHour / kMinute);
  if (whole >= kMinute) return fmt::format("{} min {:02} s", whole / kMinute, whole % kMinute);
  return fmt::format("{} s", whole);
}

}  // namespace equarx::cli
