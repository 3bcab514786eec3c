#include "experiments/run/experiment.hpp"

#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "experiments/plan/activity.hpp"
#include "experiments/run/choice.hpp"
#include "experiments/run/compared_values.hpp"
#include "experiments/run/report_time.hpp"
#include "experiments/run/source.hpp"
#include "experiments/run/varied.hpp"
#include "models/collectives/traffic.hpp"
#include "models/values/nonfinite_inputs.hpp"

namespace equarx::run {
namespace {

class Experiment {
 public:
  Experiment(const plan::Plan& plan, const Progress& progress, const ExperimentOptions& options)
      : plan_(plan),
        progress_(progress),
        threads_(options.threads),
        observer_(options.observer),
        sink_(options.sink),
        share_(options.share),
        source_(make_source(plan.config.tensor)) {
    keep_inputs();
  }

  ExperimentResult run() {
    ExperimentResult result{plan_.config, std::vector<RunResult>(plan_.collectives.size())};
    for (std::size_t i = 0; i < plan_.collectives.size(); ++i) {
      chosen_.push_back(choose(
          plan_.collectives[i],
          [this](const plan::CollectivePlan& candidate) { return simulate_candidate(candidate); },
          progress_));
      result.runs[i].candidates = std::move(chosen_.back().candidates);
    }
    if (observer_ != nullptr) observer_->check_size(chosen_plans());
    // The baseline first: the others are compared with it.
    if (plan_.config.numerics) {
      compute_all(result.runs);
      const values::ValueResult& values = *result.runs[plan_.config.baseline].numerics;
      if (values.against_exact.nonfinite_exact > 0)
        result.nonfinite_inputs =
            values::nonfinite_inputs(source_, chosen_.front().plan->program.ranks());
    }
    for (std::size_t i = 0; i < chosen_.size(); ++i) time(chosen_[i], result.runs[i]);
    for (RunResult& run : result.runs) run.calibrated = plan_.config.chip.is_calibrated();
    set_speedups(result.runs, plan_.config.baseline);
    return result;
  }

 private:
  /// All collectives read the same inputs: generates them only once if they fit into little memory.
  void keep_inputs() {
    constexpr double kMost = 128.0 * (1 << 20);  // bytes
    const config::TensorConfig& tensor = plan_.config.tensor;
    const double ranks = plan_.collectives.front().candidates.front().program.ranks();
    const double bytes =
        ranks * static_cast<double>(tensor.elements) * tensor.sample * sizeof(float);
    if (plan_.collectives.size() > 1 && bytes <= kMost)
      source_.keep(static_cast<std::uint64_t>(2.0 * bytes));  // cached pieces exceed the reads
  }

  std::vector<const plan::CollectivePlan*> chosen_plans() const {
    std::vector<const plan::CollectivePlan*> plans;
    for (const Choice& chosen : chosen_) plans.push_back(chosen.plan);
    return plans;
  }

  sim::SimulationOptions simulation_options(const plan::CollectivePlan& collective) const {
    return {.engine = collective.engine.engine,
            .by_class = collective.simulated.by_class,
            .threads = plan::simulating_threads(collective.engine.engine, threads_)};
  }

  sim::TimeResult simulate_candidate(const plan::CollectivePlan& candidate) const {
    return sim::simulate(candidate.program, candidate.simulated.machine(), candidate.costs,
                         simulation_options(candidate));
  }

  void compute_all(std::vector<RunResult>& runs) {
    const std::vector<const plan::CollectivePlan*> plans = chosen_plans();
    const auto begin = [this](const plan::CollectivePlan& collective) {
      begin_part(fmt::format("{}: computing the values of {} ranks", collective.config.label,
                             collective.program.ranks()));
    };
    std::vector<values::ValueResult> values = compute_values({.plans = plans,
                                                              .baseline = plan_.config.baseline,
                                                              .tensor = plan_.config.tensor,
                                                              .source = source_,
                                                              .threads = threads_,
                                                              .sink = sink_,
                                                              .share = share_,
                                                              .begin = begin});
    for (std::size_t i = 0; i < runs.size(); ++i) runs[i].numerics = std::move(values[i]);
  }

  /// Number of parts of the work, for progress lines.
  std::size_t parts() const { return plan_.collectives.size() * (plan_.config.numerics ? 2 : 1); }

  void begin_part(const std::string& description) {
    progress_(fmt::format("{} of {}: {}", ++part_, parts(), description));
  }

  void time(Choice& chosen, RunResult& run) {
    const plan::CollectivePlan& collective = *chosen.plan;
    const sim::Machine& machine = collective.simulated.machine();
    begin_part(fmt::format("{}: simulating {} messages", collective.config.label,
                           collectives::total_messages(collective.program, machine.ranks()) *
                               collective.simulated.slices));
    if (!chosen.time || is_observed(collective)) chosen.time = simulate_whole(collective);
    RunResult timed = report_time(collective, *chosen.time);
    if (!timed.failure)
      timed.expenses = plan::collective_expenses(collective, plan_.config, timed.time_s);
    timed.candidates = std::move(run.candidates);
    timed.numerics = std::move(run.numerics);
    run = std::move(timed);
  }

  bool is_observed(const plan::CollectivePlan& collective) const {
    return observer_ != nullptr && observer_->selects(collective);
  }

  /// Reports the fraction of the messages received so far.
  sim::Watch watch_of(const plan::CollectivePlan& collective) const {
    if (!share_) return {};
    const auto messages = static_cast<double>(
        collectives::total_messages(collective.program, collective.simulated.machine().ranks()));
    return [this, messages](std::uint64_t received) {
      if (messages > 0.0) share_(static_cast<double>(received) / messages);
    };
  }

  sim::TimeResult simulate_whole(const plan::CollectivePlan& collective) {
    const bool traced = is_observed(collective);
    sim::SimulationOptions options = simulation_options(collective);
    options.traced = traced;
    options.watch = watch_of(collective);
    sim::TimeResult time = sim::simulate(collective.program, collective.simulated.machine(),
                                         collective.costs, options);
    if (traced) observer_->add(collective, time);
    return time;
  }

  const plan::Plan& plan_;
  const Progress& progress_;
  unsigned threads_;
  RunObserver* observer_;
  ResultSink* sink_;
  const ShareDone& share_;
  std::size_t part_ = 0;  ///< the current one of parts(), from 1
  values::TensorSource source_;
  std::vector<Choice> chosen_;  ///< by collective
};

}  // namespace

ExperimentResult run_experiment(const plan::Plan& plan, const Progress& progress,
                                const ExperimentOptions& options) {
  ExperimentResult result = Experiment(plan, progress, options).run();
  const config::UncertaintyConfig& requested = result.config.uncertainty;
  if (!result.has_failed() && (requested.samples > 0 || options.sensitivity))
    add_variation(result, varied_runs(result, options.threads), requested, options.sensitivity,
                  progress);
  return result;
}

}  // namespace equarx::run
