#include "experiments/sweep/known_runs.hpp"

#include <exception>
#include <optional>
#include <utility>

#include "base/input/json.hpp"
#include "base/input/json_text.hpp"
#include "experiments/config/named_files.hpp"
#include "experiments/plan/plan.hpp"
#include "experiments/run/experiment.hpp"

namespace equarx::sweep {
namespace {

constexpr std::string_view kCollectives = "collectives";

/// By collective, everything that its run depends on.
std::vector<std::string> keys_of(const input::Json& resolved) {
  std::string common;
  for (const auto& [name, value] : resolved.items())
    if (name != kCollectives && name != "baseline") common += name + input::json_text(value) + '\n';
  std::vector<std::string> keys;
  for (const input::Json& collective : resolved.at(std::string(kCollectives)))
    keys.push_back(common + input::json_text(collective));
  return keys;
}

std::vector<run::RunResult> run_all(const config::ExperimentConfig& config) {
  return run::run_experiment(plan::make_plan(config, plan::RunProfile::batch),
                             [](const std::string&) {})
      .runs;
}

/// The experiment with the collectives that have no run yet.
config::ExperimentConfig with_open(const config::ExperimentConfig& config,
                                   const std::vector<std::optional<run::RunResult>>& found) {
  config::ExperimentConfig open = config;
  open.collectives.clear();
  open.baseline = 0;
  for (std::size_t i = 0; i < found.size(); ++i)
    if (!found[i]) open.collectives.push_back(config.collectives[i]);
  return open;
}

}  // namespace

bool KnownRuns::supports(const config::ExperimentConfig& config) {
  return !config.numerics && config.uncertainty.samples == 0 && config::named_files(config).empty();
}

std::vector<run::RunResult> KnownRuns::runs(const config::ExperimentConfig& config,
                                            const input::Json& resolved) {
  const std::vector<std::string> keys = keys_of(resolved);
  std::vector<std::optional<run::RunResult>> found(keys.size());
  std::size_t open = keys.size();
  for (std::size_t i = 0; i < keys.size(); ++i)
    if (const auto known = known_.find(keys[i]); known != known_.end()) {
      found[i] = known->second;
      --open;
    }
  std::vector<run::RunResult> made;
  try {
    if (open > 0) made = run_all(open == keys.size() ? config : with_open(config, found));
  } catch (const std::exception&) {
    if (open == keys.size()) throw;
    made = run_all(config);  // for an error with the place of the collective; it throws
    return made;
  }
  std::vector<run::RunResult> runs;
  auto next = made.begin();
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (!found[i]) keep(keys[i], *next);
    runs.push_back(found[i] ? *std::move(found[i]) : std::move(*next++));
  }
  run::set_speedups(runs, config.baseline);  // the baseline is the experiment's own
  return runs;
}

void KnownRuns::keep(const std::string& key, const run::RunResult& run) {
  if (known_.size() == kMostRuns) known_.clear();
  known_.emplace(key, run);
}

}  // namespace equarx::sweep
