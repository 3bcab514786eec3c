#include "tools/cli/progress_line.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace equarx::cli {

void ProgressLine::show(const std::string& part) {
  part_ = part;
  began_s_ = line_.seconds();
  // Log lines are rate-limited; short parts have none.
  if (line_.is_overwritten() || line_.is_due()) line_.show(part);
}

void ProgressLine::share(double done) {
  if (line_.is_due()) line_.show(progress_text(part_, done, line_.seconds() - began_s_));
}

std::string progress_text(const std::string& part, double done, double seconds) {
  constexpr double kLeastToPredict = 0.01;
  const double share = std::clamp(done, 0.0, 1.0);
  std::string text = fmt::format("{}: {:.0f} %", part, std::floor(100.0 * share));
  if (share >= kLeastToPredict)
    text += fmt::format(", {} left", duration_text(seconds * (1.0 - share) / share));
  return text;
}

}  // namespace equarx::cli
