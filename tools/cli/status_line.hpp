// Status line of a long-running command on standard error.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>

namespace equarx::cli {

/// Erases the current terminal line; requires can_overwrite().
inline constexpr std::string_view kEraseLine = "\r\x1b[K";

/// True if standard error is a terminal that can erase a line.
bool can_overwrite();

/// On a terminal, one line that is overwritten and truncated to the terminal's width. Elsewhere,
/// including TERM=dumb, a log line every ten seconds.
class StatusLine {
 public:
  StatusLine();
  /// Erases the line on a terminal.
  ~StatusLine();
  StatusLine(const StatusLine&) = delete;
  StatusLine& operator=(const StatusLine&) = delete;

  /// True if the next update is due; earlier updates should be skipped.
  bool is_due() const { return Clock::now() >= next_; }
  /// Shows the text unconditionally. Control characters are replaced.
  void show(const std::string& text);

  bool is_overwritten() const { return overwritten_; }
  /// Characters available per line.
  std::size_t width() const;
  /// Seconds since construction.
  double seconds() const;

 private:
  using Clock = std::chrono::steady_clock;

  bool overwritten_;
  Clock::time_point start_ = Clock::now();
  Clock::time_point next_;
};

/// "1 h 02 min", "3 min 20 s", "15 s"; rounded up.
std::string duration_text(double seconds);

}  // namespace equarx::cli
