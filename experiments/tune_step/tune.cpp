#include "experiments/tune_step/tune.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/input/errors.hpp"
#include "base/input/json.hpp"
#include "experiments/config/collective_json.hpp"
#include "experiments/config/task_index.hpp"
#include "experiments/step/bounds.hpp"
#include "experiments/step/memory.hpp"
#include "experiments/step/run.hpp"
#include "experiments/step/timing.hpp"
#include "experiments/tune_step/search.hpp"

namespace equarx::tune_step {
namespace {

tune::TuneOptions with_limit(tune::TuneOptions options) {
  check_options(options);
  constexpr double kDecibels = 10.0;
  if (!options.limits.max_nmse) {
    options.limits.max_nmse = std::pow(kDecibels, -kDefaultSqnrDb / kDecibels);
    options.limits.error_option = "--min-sqnr";
  }
  return options;
}

class Tuning {
 public:
  Tuning(const config::StepConfig& config, const tune::TuneOptions& options,
         const Progress& progress)
      : config_(config), progress_(progress), planner_(config) {
    result_.options = with_limit(options);
    for (const CollectiveGroup& group : collective_groups(config))
      result_.groups.push_back({group, {}, 0, 0.0, {}});
    if (result_.groups.empty())
      throw input::InputError("/step", "has no collective, so there is nothing to tune");
  }

  /// Finds the best choice. Its configuration follows the baseline's if it is another.
  StepTuneResult find() {
    const Choice best = search();
    std::vector<Choice> path = {trials_->baseline()};
    if (best != path.front()) path.push_back(best);
    report_configs(path);
    report_groups(best);
    return std::move(result_);
  }

  /// Finds the best choice, and simulates the path to it.
  StepTuneResult run() {
    const Choice best = search();
    report_configs(path_to(best, *trials_));
    report_steps();
    report_groups(best);
    return std::move(result_);
  }

 private:
  void find_group_candidates() {
    // Equal shares for each group and for simulating steps.
    tune::TuneOptions options = result_.options;
    if (options.budget_s) *options.budget_s /= static_cast<double>(result_.groups.size() + 1);
    options.exhaustive = false;  // applies to step combinations only
    for (TunedGroup& group : result_.groups) group.candidates = candidates_of(group.group, options);
  }

  /// Prefixes errors of a group's isolated collectives with the group's name.
  GroupCandidates candidates_of(const CollectiveGroup& group, const tune::TuneOptions& options) {
    try {
      return find_candidates(
          config_, group, options, planner_, tuned_,
          [&](const std::string& text) { progress_(fmt::format("{}: {}", group.name, text)); });
    } catch (const input::InputError& error) {
      if (std::string_view(error.what()).starts_with("--")) throw;  // names an option
      throw input::InputError("/step", fmt::format("group '{}': {}", group.name, error.what()));
    }
  }

  Choice search() {
    find_group_candidates();
    const Choice baseline(result_.groups.size(), 0);
    const sim::StepTime found = step::find_cuts(planner_.step(), planned(baseline));
    cuts_ = found.cuts;
    trials_.emplace([this](const Choice& choice) { return plan(choice); },
                    [this](const Choice& choice) { return longest_path_s(choice); }, baseline,
                    found.time_s, step::threads_for(config_, 0),
                    [this](const Choice& from, const Choice& to) { return saving_s(from, to); });
    Allowed allowed;
    result_.combinations = 1;
    for (const TunedGroup& group : result_.groups) {
      allowed.candidates.push_back(group.candidates.list.size());
      allowed.baseline.push_back(group.candidates.baseline_within);
      result_.combinations *=
          group.candidates.list.size() - (group.candidates.baseline_within ? 0 : 1);
    }
    const auto stop = [this] {
      const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - began_;
      if (!result_.options.budget_s || taken.count() < *result_.options.budget_s) return false;
      result_.finished = false;
      return true;
    };
    return result_.options.exhaustive ? best_of_all(allowed, *trials_, stop)
                                      : improve(allowed, *trials_, stop);
  }

  /// The baseline variant with the candidates of a choice.
  config::StepVariant variant_with(const Choice& choice) const {
    config::StepVariant variant = config_.variants[config_.baseline];
    for (std::size_t i = 0; i < choice.size(); ++i) {
      const TunedGroup& group = result_.groups[i];
      const StepCandidate& candidate = group.candidates.list[choice[i]];
      for (std::size_t k = 0; k < candidate.collectives.size(); ++k)
        variant.collectives[group.group.calls[k]] = candidate.collectives[k];
    }
    return variant;
  }

  /// Longest path through the step if each task takes as long as in isolation.
  double longest_path_s(const Choice& choice) {
    const config::StepVariant variant = variant_with(choice);
    std::vector<double> call_s;
    for (std::size_t call = 0; call < variant.collectives.size(); ++call)
      call_s.push_back(
          plan::value_or_throw(planner_.times({call, variant.collectives[call]})).isolated_s);
    std::vector<double> seconds = planner_.step().core_s;
    const config::TaskIndex index(config_);
    for (steps::TaskId task = 0; task < seconds.size(); ++task)
      if (const auto call = index.call_of(config_.graph.tasks[task])) seconds[task] = call_s[*call];
    return step::longest_path_s(config_, seconds);
  }

  /// Isolated time and core time that the changed groups save.
  double saving_s(const Choice& from, const Choice& to) const {
    double saved_s = 0.0;
    for (std::size_t i = 0; i < from.size(); ++i) {
      const std::vector<StepCandidate>& list = result_.groups[i].candidates.list;
      const StepCandidate& before = list[from[i]];
      const StepCandidate& after = list[to[i]];
      saved_s += std::max(0.0, before.isolated_s - after.isolated_s) +
                 std::max(0.0, before.core_s - after.core_s);
    }
    return saved_s;
  }

  step::VariantPlan planned(const Choice& choice) {
    std::vector<std::string> changed;
    for (std::size_t i = 0; i < choice.size(); ++i)
      if (const TunedGroup& group = result_.groups[i]; choice[i] != 0)
        changed.push_back(
            fmt::format("{}: {}", group.group.name, group.candidates.list[choice[i]].label));
    progress_(
        fmt::format("step {}: {}", ++planned_,
                    changed.empty() ? "baseline" : fmt::format("{}", fmt::join(changed, "; "))));
    return planner_.variant(variant_with(choice));
  }

  Trials::Simulate plan(const Choice& choice) {
    return [this, made = std::make_shared<const step::VariantPlan>(planned(choice))] {
      return step::time_of(planner_.step(), *made, cuts_).time_s;
    };
  }

  void report_groups(const Choice& best) {
    result_.simulated = trials_->simulated();
    result_.obstacle = trials_->obstacle();
    for (std::size_t i = 0; i < best.size(); ++i) {
      TunedGroup& group = result_.groups[i];
      group.chosen = best[i];
      Choice only = trials_->baseline();
      for (only[i] = 0; only[i] < group.candidates.list.size(); ++only[i])
        group.only_s.push_back(trials_->known_time_s(only));
    }
  }

  void report_configs(const std::vector<Choice>& path) {
    result_.step = {{config_, {}}, step::memory_of(config_)};
    config::StepConfig& config = result_.step.config;
    config.variants.clear();
    config.baseline = 0;
    for (const Choice& choice : path)
      if (trials_->time_s(choice))  // else an infeasible intermediate choice
        config.variants.push_back(variant_of(choice, path));
  }

  void report_steps() {
    for (const config::StepVariant& variant : result_.step.config.variants)
      result_.step.runs.push_back(
          step::run_variant(planner_.step(), planner_.variant(variant), variant.label));
    run::set_speedups(result_.step.runs, 0);
    const std::vector<step::GroupResult>& baseline = result_.step.runs.front().groups;
    for (TunedGroup& group : result_.groups)
      group.exposed_s =
          std::ranges::find(baseline, group.group.name, &step::GroupResult::name)->exposed_s;
  }

  /// Variant for a configuration: rules for changed groups, before the baseline's rules.
  config::StepVariant variant_of(const Choice& choice, const std::vector<Choice>& path) const {
    config::StepVariant variant = variant_with(choice);
    if (choice == path.front()) return variant;
    input::Json rules = input::Json::array();
    std::vector<std::string> names;
    for (std::size_t i = 0; i < choice.size(); ++i) {
      if (choice[i] == 0) continue;
      const TunedGroup& group = result_.groups[i];
      names.push_back(group.group.name);
      rules.push_back(rule_of(group.group, group.candidates.list[choice[i]].collectives.front()));
    }
    for (const input::Json& rule : *variant.rules) rules.push_back(rule);
    variant.rules = std::move(rules);
    std::string label =
        choice == path.back() ? "tuned" : fmt::format("only {}", fmt::join(names, ", "));
    if (label == variant.label) label += " again";
    variant.label = std::move(label);
    return variant;
  }

  static input::Json rule_of(const CollectiveGroup& group,
                             const config::CollectiveConfig& collective) {
    input::Json rule = {
        {"where",
         {{"collective", config::collective_key(group.collective)}, {"group", group.name}}}};
    rule.update(config::collective_json(collective, group.collective));
    rule.erase("label");
    return rule;
  }

  const config::StepConfig& config_;
  const Progress& progress_;
  step::Planner planner_;
  TunedExperiments tuned_;
  std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
  StepTuneResult result_;
  std::optional<Trials> trials_;
  std::uint64_t planned_ = 0;  ///< choices
  sim::Cuts cuts_;             ///< of the baseline
};

}  // namespace

void check_options(const tune::TuneOptions& options) {
  if (options.limits.max_time_s)
    throw input::InputError(
        "--max-time",
        "applies to a single collective; a step is tuned for the shortest time, remove it");
  if (!options.promises.empty())
    throw input::InputError("--contract", "is for a single collective, not for a step; remove it");
}

StepTuneResult tune_step(const config::StepConfig& config, const tune::TuneOptions& options,
                         const Progress& progress) {
  return Tuning(config, options, progress).run();
}

StepTuneResult find_best(const config::StepConfig& config, const tune::TuneOptions& options,
                         const Progress& progress) {
  return Tuning(config, options, progress).find();
}

}  // namespace equarx::tune_step
