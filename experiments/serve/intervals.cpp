#include "experiments/serve/intervals.hpp"

#include <algorithm>
#include <mutex>
#include <utility>

#include "base/process/parallel_for.hpp"
#include "experiments/config/machine_parameters.hpp"
#include "experiments/serve/serve.hpp"
#include "experiments/step/timing.hpp"
#include "experiments/variation/discrepancy.hpp"
#include "experiments/variation/uncertainty.hpp"

namespace equarx::serve {
namespace {

using serving::Distribution;
using serving::Summary;
using variation::Interval;

constexpr accuracy::Question kSteps = accuracy::Question::serving;

bool have_same_chip(const config::ServingConfig& config) {
  return config.prefill->pool.machine.chip.name == config.pool.machine.chip.name;
}

/// The load on one sampled machine.
Summary sampled(const ServeResult& nominal, const std::vector<serving::Request>& requests,
                const StepCosts& costs, const StepCosts* prefill, std::uint64_t number) {
  const config::ServingConfig& config = nominal.config;
  const std::uint64_t seed = config.pool.machine.uncertainty.seed;
  const double factor = step_factor(seed, number);
  const config::PoolConfig pool = sampled_pool(config.pool, seed, number);
  const StepCosts there(pool, costs, factor);
  serving::Pool decoding = pool_of(pool, nominal.memory, there);
  if (prefill == nullptr) {
    const serving::System system = system_of(config, std::move(decoding), {});
    return serving::summarize(serving::simulate(system, requests), system);
  }
  const config::PoolConfig before =
      sampled_pool(config.prefill->pool, seed, number, have_same_chip(config) ? 0 : 1);
  const StepCosts prompts(before, *prefill, factor);
  const serving::System system =
      system_of(config, std::move(decoding), pool_of(before, *nominal.prefill_memory, prompts));
  return serving::summarize(serving::simulate(system, requests), system);
}

template <typename Figure>
Interval interval_over(const std::vector<Summary>& samples, const Figure& figure) {
  std::vector<double> values;
  for (const Summary& summary : samples) values.push_back(figure(summary));
  return variation::interval_of(std::move(values));
}

LatencyIntervals latencies_over(const std::vector<Summary>& samples,
                                Distribution Summary::*latency) {
  const auto over = [&](double Distribution::*figure) {
    return interval_over(samples, [=](const Summary& summary) { return summary.*latency.*figure; });
  };
  return {over(&Distribution::mean), over(&Distribution::p50), over(&Distribution::p90),
          over(&Distribution::p99)};
}

}  // namespace

double work_of_sample(const serving::Outcome& outcome, const StepCosts& costs,
                      const StepCosts* prefill) {
  constexpr double kMessages = 4.0;  // that take as long as a step of a replica
  const auto steps = [](const serving::PoolTotals& totals) {
    return kMessages * static_cast<double>(totals.steps);
  };
  double work = costs.messages() + steps(outcome.totals);
  if (prefill != nullptr) work += prefill->messages() + steps(*outcome.prefill_totals);
  return work;
}

bool is_uncertain(const config::PoolConfig& pool) {
  return variation::is_known(kSteps) ||
         !config::uncertain_parameters(config::parameters_of(pool.machine)).empty();
}

double step_factor(std::uint64_t seed, std::uint64_t number) {
  return variation::time_factor(variation::spread_of(kSteps), seed, number);
}

config::PoolConfig sampled_pool(config::PoolConfig pool, std::uint64_t seed, std::uint64_t number,
                                std::uint64_t pools_before) {
  const std::uint64_t draw = number + (pools_before << 32U);
  const variation::MachineSampler sampler(config::parameters_of(pool.machine));
  config::set_parameters(sampler.draw(seed, draw), pool.machine);
  return pool;
}

std::optional<LoadIntervals> intervals(const ServeResult& nominal,
                                       const std::vector<serving::Request>& requests,
                                       const StepCosts& costs, const StepCosts* prefill,
                                       const IntervalOptions& options) {
  const auto& before = nominal.config.prefill;
  if (!is_uncertain(nominal.config.pool) && !(before && is_uncertain(before->pool)))
    return std::nullopt;
  std::vector<Summary> samples(nominal.config.pool.machine.uncertainty.samples);
  const unsigned threads =
      step::threads_for(config::step_of(nominal.config.pool, 1), options.threads);
  std::mutex mutex;
  std::size_t done = 0;
  process::parallel_for(samples.size(), threads, [&](std::size_t number) {
    samples[number] = sampled(nominal, requests, costs, prefill, number);
    const std::lock_guard lock(mutex);
    if (options.progress)
      options.progress(static_cast<double>(++done) / static_cast<double>(samples.size()));
  });
  LoadIntervals found{.samples = static_cast<std::uint32_t>(samples.size()),
                      .ttft = latencies_over(samples, &Summary::ttft),
                      .tpot = latencies_over(samples, &Summary::tpot),
                      .itl = latencies_over(samples, &Summary::itl),
                      .requests_per_s = interval_over(
                          samples, [](const Summary& one) { return one.requests_per_s; }),
                      .output_tokens_per_s = interval_over(
                          samples, [](const Summary& one) { return one.output_tokens_per_s; })};
  if (const auto cost = nominal.dollars_per_million()) {
    const double tokens = *cost * nominal.summary.output_tokens_per_s;
    found.dollars_per_million =
        Interval{tokens / found.output_tokens_per_s.high, tokens / found.output_tokens_per_s.low};
  }
  return found;
}

}  // namespace equarx::serve
