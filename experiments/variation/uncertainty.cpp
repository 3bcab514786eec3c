#include "experiments/variation/uncertainty.hpp"

#include <algorithm>
#include <cmath>
#include <mutex>

#include <fmt/format.h>

#include "base/process/parallel_for.hpp"
#include "experiments/accuracy/summary.hpp"

namespace equarx::variation {

MachineSampler::MachineSampler(const config::MachineParameters& machine)
    : machine_(machine), chips_(machine.chip) {}

config::MachineParameters MachineSampler::draw(std::uint64_t seed, std::uint64_t number) const {
  config::MachineParameters drawn{chips_.draw(seed, number), machine_.network};
  std::uint64_t stream = 0;
  for (const config::MachineParameter& one : config::all_parameters(machine_))
    if (one.of_network != nullptr)
      one.in(drawn).value =
          hardware::draw_value(*one.info, one.in(machine_), seed, number, ++stream);
  return drawn;
}

namespace {

// Streams apart from those of parameters.
constexpr std::uint64_t kTimes = 1ULL << 32;
constexpr std::uint64_t kSpeedups = kTimes + 1;

bool has_spread(const Varied& runs) {
  return std::ranges::any_of(
      runs.spreads, [](const Spread& one) { return one.time != 0.0 || one.speedup != 0.0; });
}

/// Applies the discrepancy of the model. One draw serves all times and one all speedups, as errors
/// of the model are common to the runs of a sample.
void add_discrepancy(const std::vector<Spread>& spreads, std::uint64_t seed, std::uint64_t number,
                     std::vector<Timing>& timings) {
  const double of_speedups = hardware::standard_normal(seed, number, kSpeedups);
  for (std::size_t i = 0; i < std::min(spreads.size(), timings.size()); ++i) {
    const double gain = spreads[i].speedup * of_speedups;
    timings[i].time_s *= time_factor(spreads[i].time, seed, number) * std::exp(-gain);
    timings[i].speedup *= std::exp(gain);
  }
}

}  // namespace

double time_factor(double spread, std::uint64_t seed, std::uint64_t number) {
  return std::exp(spread * hardware::standard_normal(seed, number, kTimes));
}

config::UncertaintyConfig with_default_samples(config::UncertaintyConfig requested,
                                               double messages) {
  if (requested.samples > 0) return requested;
  constexpr double kMessages = 2e7;
  constexpr double kFewest = 20.0;
  constexpr double kMost = config::UncertaintyConfig::kDefaultSamples;
  requested.samples =
      static_cast<std::uint32_t>(std::clamp(kMessages / std::max(messages, 1.0), kFewest, kMost));
  return requested;
}

std::vector<std::vector<Timing>> sample(const Varied& runs,
                                        const config::UncertaintyConfig& requested,
                                        const Progress& progress) {
  if (config::uncertain_parameters(runs.machine).empty() && !has_spread(runs)) return {};
  const MachineSampler sampler(runs.machine);
  std::vector<std::vector<Timing>> timings(requested.samples);
  std::mutex mutex;
  std::uint32_t done = 0;
  process::parallel_for(timings.size(), runs.threads, [&](std::size_t number) {
    timings[number] = runs.time_on(sampler.draw(requested.seed, number));
    add_discrepancy(runs.spreads, requested.seed, number, timings[number]);
    const std::lock_guard lock(mutex);
    progress(fmt::format("uncertainty: sample {} of {}", ++done, timings.size()));
  });
  std::erase_if(timings, [](const std::vector<Timing>& one) { return one.empty(); });
  return timings;
}

Interval interval_of(std::vector<double> values) {
  std::ranges::sort(values);
  return {accuracy::quantile(values, kBelowInterval),
          accuracy::quantile(values, 1.0 - kBelowInterval)};
}

std::vector<Uncertainty> uncertainties(const std::vector<std::vector<Timing>>& samples) {
  std::vector<Uncertainty> all;
  if (samples.empty()) return all;
  for (std::size_t run = 0; run < samples.front().size(); ++run) {
    const auto interval = [&](double Timing::*figure) {
      std::vector<double> values;
      for (const std::vector<Timing>& timings : samples) values.push_back(timings[run].*figure);
      return interval_of(std::move(values));
    };
    all.push_back({static_cast<std::uint32_t>(samples.size()), interval(&Timing::time_s),
                   interval(&Timing::speedup)});
  }
  return all;
}

}  // namespace equarx::variation
