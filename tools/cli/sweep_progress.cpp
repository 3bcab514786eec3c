#include "tools/cli/sweep_progress.hpp"

#include <cmath>
#include <cstddef>

#include <fmt/format.h>

#include "tools/cli/sweep_notes.hpp"

namespace equarx::cli {
namespace {

double share(const sweep::SweepStatus& status) {
  return status.done == status.points ? 1.0 : status.done_share;
}

std::string bar(const sweep::SweepStatus& status) {
  constexpr std::size_t kWidth = 24;
  const auto filled = static_cast<std::size_t>(static_cast<double>(kWidth) * share(status));
  return fmt::format("[{:.<{}}]", std::string(filled, '#'), kWidth);
}

}  // namespace

std::string progress_text(const sweep::SweepStatus& status, double seconds) {
  std::string text = fmt::format("{} of {} points ({:.0f} %)", status.done, status.points,
                                 std::floor(100.0 * share(status)));
  if (status.does_not_fit > 0) text += ", " + does_not_fit_text(status.does_not_fit);
  if (status.failed > 0) text += fmt::format(", {} failed", status.failed);
  if (status.computed == 0 || seconds <= 0.0) return text;
  text += fmt::format(", {:.3g} per second", static_cast<double>(status.computed) / seconds);
  if (status.left_s) text += fmt::format(", {} left", duration_text(*status.left_s));
  return text;
}

void SweepProgress::show(const sweep::SweepStatus& status) {
  if (!line_.is_due()) return;
  const std::string text = progress_text(status, line_.seconds());
  const std::string with_bar = fmt::format("{} {}", bar(status), text);
  line_.show(line_.is_overwritten() && with_bar.size() <= line_.width() ? with_bar : text);
}

}  // namespace equarx::cli
