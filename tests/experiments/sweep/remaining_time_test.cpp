#include "experiments/sweep/remaining_time.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <queue>
#include <vector>

#include "tests/catch.hpp"

namespace equarx::sweep::remaining_time_test {
namespace {

/// A fake clock: points start in order as soon as a process is free.
struct Event {
  double end_s;
  std::size_t point;
  bool operator>(const Event& other) const { return end_s > other.end_s; }
};

struct Estimate {
  std::size_t done;  ///< points
  double left_s;     ///< estimate
  double true_s;
};

/// Estimates just before and after each point ends, of points that take `times_s`.
std::vector<Estimate> estimates(const std::vector<double>& work, const std::vector<double>& times_s,
                                std::size_t processes) {
  RemainingTime remaining(std::accumulate(work.begin(), work.end(), 0.0), processes);
  std::priority_queue<Event, std::vector<Event>, std::greater<>> running;
  std::vector<std::pair<double, Estimate>> found;  // with the time
  double now_s = 0.0;
  std::size_t next = 0;
  std::size_t done = 0;
  const auto look = [&] {
    if (const auto left_s = remaining.at(now_s)) found.push_back({now_s, {done, *left_s, 0.0}});
  };
  while (done < work.size()) {
    for (; next < work.size() && running.size() < processes; ++next) {
      remaining.start(next, work[next], now_s);
      running.push({now_s + times_s[next], next});
    }
    now_s = running.top().end_s;
    look();
    remaining.finish(running.top().point, now_s);
    running.pop();
    ++done;
    look();
  }
  std::vector<Estimate> all;
  for (auto& [time_s, estimate] : found) {
    estimate.true_s = now_s - time_s;
    all.push_back(estimate);
  }
  return all;
}

TEST_CASE("after the cheap points the estimate is within a factor of 2") {
  std::vector<double> work;
  for (int point = 0; point < 12; ++point) work.push_back(std::pow(4.0, point / 2));
  std::vector<double> times_s;  // the estimated work is 30 % off, up or down
  for (std::size_t point = 0; point < work.size(); ++point)
    times_s.push_back(2.5 * work[point] * (point % 3 == 0 ? 1.3 : 0.77));
  const double whole_s = std::accumulate(times_s.begin(), times_s.end(), 0.0);
  for (const std::size_t processes : {1U, 2U, 4U})
    for (const Estimate& estimate : estimates(work, times_s, processes)) {
      if (estimate.true_s * static_cast<double>(processes) < 0.2 * whole_s) continue;
      CAPTURE(processes, estimate.done, estimate.left_s, estimate.true_s);
      CHECK(estimate.left_s > 0.5 * estimate.true_s);
      CHECK(estimate.left_s < 2.0 * estimate.true_s);
    }
}

TEST_CASE("the time of a running point counts as it passes") {
  RemainingTime remaining(11.0, 1);
  CHECK_FALSE(remaining.at(0.0));
  remaining.start(0, 1.0, 0.0);
  CHECK_FALSE(remaining.at(1.0));
  remaining.finish(0, 2.0);
  remaining.start(1, 9.0, 2.0);
  CHECK(remaining.at(2.0) == Approx(20.0));
  CHECK(remaining.at(12.0) == Approx(10.0));
  CHECK(remaining.at(40.0) == Approx(2.0));  // longer than estimated: the last point is left
  remaining.skip(1.0);
  remaining.finish(1, 40.0);
  CHECK(remaining.at(40.0) == Approx(0.0).margin(1e-9));
}

TEST_CASE("a long point at the end is not shared by the processes") {
  RemainingTime remaining(12.0, 4);
  remaining.start(0, 2.0, 0.0);
  remaining.start(1, 10.0, 0.0);
  remaining.finish(0, 2.0);
  CHECK(remaining.at(2.0) == Approx(8.0));
}

}  // namespace
}  // namespace equarx::sweep::remaining_time_test
