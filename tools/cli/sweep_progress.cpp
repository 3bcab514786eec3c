#include "tools/cli/sweep_progress.hpp"

#include <cmath>
#include <cstdint>
#include <cstdio>

#include <fmt/format.h>
#include <unistd.h>

namespace equarx::cli {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kRedraw{100};
constexpr milliseconds kLineInterval{5000};

double share(const sweep::SweepStatus& status) {
  return status.points == 0 ? 1.0
                            : static_cast<double>(status.done) / static_cast<double>(status.points);
}

/// "1 h 02 min", "3 min 20 s", "15 s"
std::string duration_text(double seconds) {
  constexpr std::int64_t kMinute = 60;
  constexpr std::int64_t kHour = 60 * kMinute;
  const auto whole = static_cast<std::int64_t>(std::ceil(seconds));
  if (whole >= kHour) return fmt::format("{} h {:02} min", whole / kHour, whole % kHour / kMinute);
  if (whole >= kMinute) return fmt::format("{} min {:02} s", whole / kMinute, whole % kMinute);
  return fmt::format("{} s", whole);
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
  if (status.failed > 0) text += fmt::format(", {} failed", status.failed);
  if (status.computed == 0 || seconds <= 0.0) return text;
  const double rate = static_cast<double>(status.computed) / seconds;
  return text + fmt::format(", {:.3g} per second, {} left", rate,
                            duration_text(static_cast<double>(status.points - status.done) / rate));
}

SweepProgress::SweepProgress()
    : watched_(isatty(STDERR_FILENO) == 1), next_(start_ + (watched_ ? kRedraw : kLineInterval)) {}

SweepProgress::~SweepProgress() {
  constexpr std::string_view kEraseLine = "\r\x1b[K";
  if (watched_) fmt::print(stderr, "{}", kEraseLine);
}

void SweepProgress::show(const sweep::SweepStatus& status) {
  const Clock::time_point now = Clock::now();
  if (now < next_) return;
  next_ = now + (watched_ ? kRedraw : kLineInterval);
  const std::string text =
      progress_text(status, std::chrono::duration<double>(now - start_).count());
  if (watched_)
    fmt::print(stderr, "\r{} {}\x1b[K", bar(status), text);
  else
    fmt::print(stderr, "equarx-sim: {}\n", text);
  std::fflush(stderr);
}

}  // namespace equarx::cli
