#include "experiments/run/experiment.hpp"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "experiments/run/checks.hpp"
#include "experiments/run/phase.hpp"
#include "experiments/run/report_time.hpp"
#include "experiments/run/source.hpp"
#include "experiments/run/varied.hpp"
#include "models/collectives/traffic.hpp"
#include "models/units/quantity.hpp"

namespace equarx::run {
namespace {

class Experiment {
 public:
  Experiment(const plan::Plan& plan, const Progress& progress, const ExperimentOptions& options)
      : plan_(plan),
        progress_(progress),
        value_threads_(options.value_threads),
        observer_(options.observer),
        sink_(options.sink),
        share_(options.share),
        source_(make_source(plan.config.tensor)) {
    if (plan.workload) schedule_ = plan.workload->schedule;
    keep_inputs();
  }

  ExperimentResult run() {
    ExperimentResult result{
        plan_.config, std::vector<RunResult>(plan_.collectives.size()), {}, {}, {}};
    for (std::size_t i = 0; i < plan_.collectives.size(); ++i)
      chosen_.push_back(choose(plan_.collectives[i], result.runs[i]));
    if (observer_ != nullptr) observer_->check_size(chosen_plans(), schedule_);
    // The baseline first: the others are compared with it.
    if (plan_.config.numerics) {
      compute_all(result.runs);
      const values::ValueResult& values = *result.runs[plan_.config.baseline].numerics;
      if (values.against_exact.nonfinite_exact > 0)
        result.nonfinite_inputs =
            values::nonfinite_inputs(source_, chosen_.front().plan->program.ranks());
    }
    for (std::size_t i = 0; i < chosen_.size(); ++i) time(chosen_[i], result.runs[i]);
    if (plan_.workload) result.operations = plan_.workload->operations;
    const RunResult& baseline = result.runs[plan_.config.baseline];
    for (RunResult& run : result.runs) {
      run.calibrated = plan_.config.chip.is_calibrated();
      if (!run.failure && !baseline.failure) run.speedup = baseline.time_s / run.time_s;
    }
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

  struct Chosen {
    const plan::CollectivePlan* plan = nullptr;
    std::optional<sim::TimeResult> time;  ///< set if choosing it took a simulation
  };

  std::vector<const plan::CollectivePlan*> chosen_plans() const {
    std::vector<const plan::CollectivePlan*> plans;
    for (const Chosen& chosen : chosen_) plans.push_back(chosen.plan);
    return plans;
  }

  /// Returns the only candidate or the fastest. Candidates are sorted by lower bound, so a bound
  /// above the best time rules out all later ones.
  Chosen choose(const plan::PlannedCollective& planned, RunResult& run) {
    if (planned.candidates.size() == 1 && planned.infeasible.empty())
      return {&planned.candidates.front(), std::nullopt};
    Chosen best;
    double best_s = std::numeric_limits<double>::infinity();
    for (const plan::CollectivePlan& candidate : planned.candidates) {
      const sim::Machine& machine = candidate.simulated.machine;
      const double bound_s = sim::lower_bound_s(candidate.program, machine, candidate.costs);
      Candidate& report =
          run.candidates.emplace_back(Candidate{candidate.config.algorithm, std::nullopt, {}});
      if (bound_s > best_s) {
        report.note = fmt::format("cannot win: lower bound {}", units::time_text(bound_s));
        continue;
      }
      progress_(
          fmt::format("{}: trying {}", candidate.config.label, candidate.config.algorithm->name));
      sim::TimeResult time = sim::simulate(candidate.program, machine, candidate.costs,
                                           {.engine = candidate.engine.engine});
      const bool failed = time.failure.has_value();
      if (failed)
        report.note = "fails: uses a link that goes down";
      else
        report.time_s = time.time_s;
      if (failed ? best.plan != nullptr : time.time_s >= best_s) continue;
      if (!failed) best_s = time.time_s;
      best = {&candidate, std::move(time)};
    }
    for (const plan::InfeasibleAlgorithm& other : planned.infeasible)
      run.candidates.push_back({other.algorithm, std::nullopt, other.reason});
    return best;
  }

  void compute_all(std::vector<RunResult>& runs) {
    const std::size_t first = plan_.config.baseline;
    std::optional<values::ResultTensor> own;
    const plan::CollectivePlan& others_compare_with = *chosen_[first].plan;
    values::ResultTensor* baseline = kept(others_compare_with);
    if (baseline == nullptr)
      baseline = &own.emplace(values::result_elements(others_compare_with.program),
                              plan_.config.tensor.dtype);
    compute(others_compare_with, runs[first], options({.result = baseline}));
    runs[first].numerics->against_baseline = numerics::ErrorMetrics{};
    for (std::size_t i = 0; i < runs.size(); ++i) {
      if (i == first) continue;
      const plan::CollectivePlan& collective = *chosen_[i].plan;
      compute(collective, runs[i], options({.baseline = baseline, .result = kept(collective)}));
    }
  }

  /// Destination of a result; null if results are not kept.
  values::ResultTensor* kept(const plan::CollectivePlan& collective) const {
    return sink_ == nullptr ? nullptr : &sink_->result_of(collective);
  }

  /// Number of parts of the work, for progress lines.
  std::size_t parts() const { return plan_.collectives.size() * (plan_.config.numerics ? 2 : 1); }

  void begin_part(const std::string& description) {
    progress_(fmt::format("{} of {}: {}", ++part_, parts(), description));
  }

  values::ValueOptions options(values::ValueOptions options) const {
    options.threads = value_threads_;
    options.rounding_seed = plan_.config.tensor.values.seed;
    options.sample = plan_.config.tensor.sample;
    options.watch = share_;
    return options;
  }

  void compute(const plan::CollectivePlan& collective, RunResult& run,
               const values::ValueOptions& options) {
    begin_part(fmt::format("{}: computing the values of {} ranks", collective.config.label,
                           collective.program.ranks()));
    run.numerics = values::execute(collective.program, source_, options);
    check_values(collective, *run.numerics, plan_.config.tensor.sample == 1.0);
  }

  void time(Chosen& chosen, RunResult& run) {
    const plan::CollectivePlan& collective = *chosen.plan;
    const sim::Machine& machine = collective.simulated.machine;
    begin_part(fmt::format("{}: simulating {} messages", collective.config.label,
                           collectives::total_messages(collective.program, machine.ranks())));
    if (plan_.workload) return time_phase(collective, *plan_.workload, run);
    if (!chosen.time || is_observed(collective)) chosen.time = simulate_whole(collective);
    report_time(collective, *chosen.time, run);
    if (run.failure) return;
    run.breakdown = break_down(collective, run.time_s);
    check_time(collective, *chosen.time, run.lower_bound_s, 1);
  }

  void time_phase(const plan::CollectivePlan& collective, const plan::WorkloadPlan& workload,
                  RunResult& run) {
    const bool repeat = collective.simulated.symmetric && workload.schedule.overlap == 0 &&
                        !is_observed(collective);
    const sim::TimeResult time =
        repeat ? simulate_layers(collective, workload) : simulate_whole(collective);
    report_time(collective, time, run);
    run.lower_bound_s = phase_bound_s(collective, workload, run.lower_bound_s);
    run.wire_bytes_per_link *= workload.allreduces;
    run.phase = report_phase(collective, workload, run.time_s);
    run.phase->layers_repeated = repeat;
    if (run.failure) return;
    run.breakdown = break_down(collective, run.time_s, workload.allreduces);
    check_time(collective, time, run.lower_bound_s, workload.allreduces);
  }

  bool is_observed(const plan::CollectivePlan& collective) const {
    return observer_ != nullptr && observer_->selects(collective);
  }

  /// Reports the fraction of the schedule's messages received so far.
  sim::Watch watch_of(const plan::CollectivePlan& collective) const {
    if (!share_) return {};
    const auto messages = static_cast<double>(collectives::total_messages(
                              collective.program, collective.simulated.machine.ranks())) *
                          static_cast<double>(schedule_.compute_s.size() - 1);
    return [this, messages](std::uint64_t received) {
      if (messages > 0.0) share_(static_cast<double>(received) / messages);
    };
  }

  sim::TimeResult simulate_whole(const plan::CollectivePlan& collective) {
    const bool traced = is_observed(collective);
    sim::TimeResult time =
        sim::simulate(collective.program, collective.simulated.machine, collective.costs,
                      {.schedule = schedule_,
                       .traced = traced,
                       .engine = collective.engine.engine,
                       .watch = watch_of(collective)});
    if (traced) observer_->add(collective, schedule_, time);
    return time;
  }

  const plan::Plan& plan_;
  const Progress& progress_;
  unsigned value_threads_;
  RunObserver* observer_;
  ResultSink* sink_;
  const ShareDone& share_;
  std::size_t part_ = 0;    ///< the current one of parts(), from 1
  sim::Schedule schedule_;  ///< of the whole phase, or of the isolated collective
  values::TensorSource source_;
  std::vector<Chosen> chosen_;  ///< by collective
};

}  // namespace

ExperimentResult run_experiment(const plan::Plan& plan, const Progress& progress,
                                const ExperimentOptions& options) {
  ExperimentResult result = Experiment(plan, progress, options).run();
  if (result.config.uncertainty.samples > 0) add_intervals(result, progress, options.value_threads);
  if (options.sensitivity) {
    progress("computing sensitivities");
    result.sensitivities = find_sensitivities(result, options.value_threads);
  }
  return result;
}

}  // namespace equarx::run
