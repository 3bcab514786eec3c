#include "tools/cli/progress_line.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace equarx::cli {

void ProgressLine::show(const std::string& what) {
  what_ = what;
  began_s_ = line_.seconds();
  // A part may be over before it is time for a line of a log.
  if (line_.is_overwritten() || line_.is_due()) line_.say(what);
}

void ProgressLine::share(double done) {
  if (line_.is_due()) line_.say(progress_text(what_, done, line_.seconds() - began_s_));
}

std::string progress_text(const std::string& what, double done, double seconds) {
  constexpr double kLeastToPredict = 0.01;
  const double share = std::clamp(done, 0.0, 1.0);
  std::string text = fmt::format("{}: {:.0f} %", what, std::floor(100.0 * share));
  if (share >= kLeastToPredict)
    text += fmt::format(", {} left", duration_text(seconds * (1.0 - share) / share));
  return text;
}

}  // namespace equarx::cli
