#pragma once

#include <cstdio>
#include <string>
#include <string_view>

#include <fmt/format.h>
#include <unistd.h>

namespace equarx::cli {

/// One line on a terminal that is written over; nothing where no person watches.
class ProgressLine {
 public:
  ProgressLine() = default;
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;
  ~ProgressLine() { show(""); }

  void show(const std::string& text) const {
    constexpr std::string_view kEraseLine = "\r\x1b[K";
    if (watched_) fmt::print(stderr, "{}{}", kEraseLine, text);
  }

 private:
  bool watched_ = isatty(STDERR_FILENO) == 1;
};

}  // namespace equarx::cli
