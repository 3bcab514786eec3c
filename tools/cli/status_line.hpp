// What a long command says on standard error while it works.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>

namespace equarx::cli {

/// What takes the line away that was last written to a terminal, if can_overwrite().
inline constexpr std::string_view kEraseLine = "\r\x1b[K";

/// Whether a person sees standard error, on a terminal that can erase a line.
bool can_overwrite();

/// On a terminal one line that is written over, and cut to its width. Elsewhere, and on a terminal that cannot do
/// that (TERM=dumb), a line every ten seconds, so that a log shows that the command is alive, and how far.
class StatusLine {
 public:
  StatusLine();
  /// Leaves nothing on a terminal.
  ~StatusLine();
  StatusLine(const StatusLine&) = delete;
  StatusLine& operator=(const StatusLine&) = delete;

  /// Whether it is time to say how far the command is: what is said in between is not shown.
  bool is_due() const { return Clock::now() >= next_; }
  /// Shows the text, whenever it is called. Control characters in it are replaced.
  void say(const std::string& text);

  bool is_overwritten() const { return overwritten_; }
  /// Letters that a line has room for, behind `equarx-sim: ` in a log.
  std::size_t width() const;
  /// Since this line was made.
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
