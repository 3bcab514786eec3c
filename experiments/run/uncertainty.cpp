#include "experiments/run/uncertainty.hpp"

#include <algorithm>
#include <cmath>
#include <mutex>
#include <vector>

#include <fmt/format.h>

#include "experiments/run/other_chip.hpp"
#include "models/hardware/uncertainty.hpp"

namespace equarx::run {
namespace {

/// Returns the 16 % and 84 % quantiles: plus or minus one standard deviation of a normal
/// distribution. Quantiles are interpolated linearly (definition 7 of Hyndman and Fan, 1996).
Interval interval_of(std::vector<double> values) {
  constexpr double kOutside = 0.1586552539314571;  // standard normal CDF at -1
  std::ranges::sort(values);
  const auto quantile = [&](double share) {
    const double position = share * static_cast<double>(values.size() - 1);
    const auto below = static_cast<std::size_t>(position);
    const std::size_t above = std::min(below + 1, values.size() - 1);
    return std::lerp(values[below], values[above], position - static_cast<double>(below));
  };
  return {quantile(kOutside), quantile(1.0 - kOutside)};
}

/// Times the runs on every sampled chip.
std::vector<std::vector<Timing>> sample(const ExperimentResult& result,
                                        const std::function<void(const std::string&)>& progress,
                                        unsigned threads) {
  const plan::Plan plan = for_other_chips(result);
  const hardware::ChipSampler sampler(plan.config.chip);
  const config::UncertaintyConfig& requested = result.config.uncertainty;
  std::vector<std::vector<Timing>> timings(requested.samples);
  std::mutex mutex;
  std::uint32_t done = 0;
  for_each_chip(plan, timings.size(), threads, [&](std::size_t number) {
    timings[number] = time_on(plan, sampler.draw(requested.seed, number));
    const std::lock_guard lock(mutex);
    progress(fmt::format("uncertainty: sample {} of {}", ++done, timings.size()));
  });
  return timings;
}

}  // namespace

void add_intervals(ExperimentResult& result,
                   const std::function<void(const std::string&)>& progress, unsigned threads) {
  if (has_failed(result) || hardware::uncertain_parameters(result.config.chip).empty()) return;
  std::vector<std::vector<Timing>> timings = sample(result, progress, threads);
  std::erase_if(timings, [](const std::vector<Timing>& runs) { return runs.empty(); });
  if (timings.empty()) return;
  for (std::size_t i = 0; i < result.runs.size(); ++i) {
    const auto interval = [&](double Timing::*figure) {
      std::vector<double> values;
      for (const std::vector<Timing>& runs : timings) values.push_back(runs[i].*figure);
      return interval_of(std::move(values));
    };
    result.runs[i].uncertainty = {static_cast<std::uint32_t>(timings.size()),
                                  interval(&Timing::time_s), interval(&Timing::speedup)};
  }
}

}  // namespace equarx::run
