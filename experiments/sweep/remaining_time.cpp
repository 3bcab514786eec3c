#include "experiments/sweep/remaining_time.hpp"

#include <algorithm>

namespace equarx::sweep {

void RemainingTime::start(std::size_t job, double work, double now_s) {
  left_ -= work;
  running_[job] = {work, now_s};
}

void RemainingTime::finish(std::size_t job, double now_s) {
  const auto found = running_.find(job);
  finished_ += found->second.work;
  finished_s_ += now_s - found->second.start_s;
  running_.erase(found);
}

std::optional<double> RemainingTime::at(double now_s) const {
  if (finished_ <= 0.0) return std::nullopt;
  const double s_per_work = finished_s_ / finished_;
  double sum_s = std::max(0.0, left_) * s_per_work;
  double longest_s = 0.0;
  for (const auto& [job, running] : running_) {
    const double rest_s = std::max(0.0, running.work * s_per_work - (now_s - running.start_s));
    sum_s += rest_s;
    longest_s = std::max(longest_s, rest_s);
  }
  return std::max(longest_s, sum_s / static_cast<double>(processes_));
}

}  // namespace equarx::sweep
