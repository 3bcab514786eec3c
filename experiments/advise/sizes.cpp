#include "experiments/advise/sizes.hpp"

#include <algorithm>

#include "base/process/parallel_for.hpp"
#include "experiments/run/experiment.hpp"

namespace equarx::advise {
namespace {

constexpr std::uint64_t kLeastBytes = std::uint64_t{16} << 10;
constexpr std::uint64_t kMostBytes = std::uint64_t{256} << 20;

std::optional<SizeGain> gain_at(const config::ExperimentConfig& config, std::uint64_t bytes) {
  const plan::Expected<plan::Plan> plan =
      plan::try_plan(at_size(config, bytes), plan::RunProfile::batch);
  if (!plan) return std::nullopt;
  const run::ExperimentResult result = run::run_experiment(*plan, [](const std::string&) {});
  const std::optional<double> speedup = result.runs.back().speedup;
  return speedup ? std::optional(SizeGain{bytes, *speedup}) : std::nullopt;
}

/// True if simulating `bytes` fits the time budget of a trial; larger tensors take longer.
bool is_quick(const config::ExperimentConfig& config, std::uint64_t bytes) {
  const config::ExperimentConfig largest = at_size(config, bytes);
  return std::ranges::all_of(largest.collectives, [&](const config::CollectiveConfig& collective) {
    const plan::Expected<double> time_s = plan::simulation_time_s(collective, largest, "");
    return time_s && *time_s <= plan::kMostTrialTime / 4.0;
  });
}

}  // namespace

std::vector<std::uint64_t> gain_sizes() {
  std::vector<std::uint64_t> sizes;
  for (std::uint64_t bytes = kLeastBytes; bytes <= kMostBytes; bytes *= 2) sizes.push_back(bytes);
  return sizes;
}

config::ExperimentConfig at_size(config::ExperimentConfig config, std::uint64_t bytes) {
  config::TensorConfig& tensor = config.tensor;
  tensor.elements = bytes * 8 / numerics::element_bits(tensor.dtype);
  tensor.shape = {tensor.elements};
  tensor.files.clear();
  tensor.opened = {};
  for (config::CollectiveConfig& collective : config.collectives) {
    collective.microshards.reset();
    collective.minishards.reset();
    collective.sizes = {};
    collective.cuts = config::CutMode::fastest;
  }
  return config;
}

std::vector<SizeGain> gains_by_size(const config::ExperimentConfig& config) {
  std::vector<std::uint64_t> sizes_to_simulate;
  for (const std::uint64_t bytes : gain_sizes()) {
    if (!is_quick(config, bytes)) break;
    sizes_to_simulate.push_back(bytes);
  }
  std::vector<std::optional<SizeGain>> speedups(sizes_to_simulate.size());
  process::parallel_for(
      sizes_to_simulate.size(), plan::simulating_threads(config.engine),
      [&](std::size_t i) { speedups[i] = gain_at(config, sizes_to_simulate[i]); });
  std::vector<SizeGain> sizes;
  for (const std::optional<SizeGain>& one : speedups)
    if (one) sizes.push_back(*one);
  return sizes;
}

std::optional<SizeGain> break_even_size(const std::vector<SizeGain>& sizes) {
  const auto last_loss = std::find_if(sizes.rbegin(), sizes.rend(),
                                      [](const SizeGain& one) { return one.speedup <= 1.0; });
  if (last_loss == sizes.rbegin()) return std::nullopt;
  return *last_loss.base();
}

}  // namespace equarx::advise
