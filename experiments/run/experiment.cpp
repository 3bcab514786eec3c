#include "experiments/run/experiment.hpp"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "experiments/input/errors.hpp"
#include "experiments/run/source.hpp"
#include "models/collectives/traffic.hpp"
#include "models/units/quantity.hpp"
#include "sim/symmetry.hpp"

namespace equarx::run {
namespace {

void require(bool holds, const std::string& label, std::string_view law) {
  if (!holds)
    throw input::InvariantError(
        fmt::format("internal error in '{}': {}; please report this", label, law));
}

/// `runs`: how often the program ran.
void check_time(const plan::CollectivePlan& plan, const sim::TimeResult& time, double lower_bound_s,
                std::uint32_t runs) {
  const std::string& label = plan.config.label;
  const sim::Machine& machine = plan.simulated.machine;
  require(
      time.time_s >= lower_bound_s * (1.0 - sim::kBoundRounding), label,
      fmt::format("simulated time {} s is below its lower bound {} s", time.time_s, lower_bound_s));
  require(time.messages == runs * collectives::total_messages(plan.program, machine.ranks()), label,
          "not every message was received");
  std::vector<std::uint64_t> expected = sim::link_bytes(plan.program, machine);
  for (std::uint64_t& bytes : expected) bytes *= runs;
  require(time.link_bytes == expected, label, "bytes were lost or made on the links");
}

void check_values(const plan::CollectivePlan& plan, const values::ValueResult& values, bool whole) {
  const std::string& label = plan.config.label;
  require(values.ranks_identical, label, "the ranks ended with different results");
  require(!whole || values.sent_bytes == collectives::total_sent_bytes(plan.program), label,
          "the encoded bytes are not those that were timed");
  require(values.received_bytes == values.sent_bytes, label, "a sent byte was not received");
}

/// Every link direction of a whole machine, with the chips that it joins.
std::vector<LinkUse> all_links(const sim::Machine& machine, const sim::TimeResult& time) {
  std::vector<LinkUse> uses;
  for (sim::LinkIndex link = 0; link < machine.links.size(); ++link) {
    const sim::LinkSpec& spec = machine.links[link];
    uses.push_back({spec.name, spec.from, spec.to, time.link_bytes[link], time.link_busy_s[link]});
  }
  return uses;
}

/// The links that every chip has, as the first representative has them.
std::vector<LinkUse> links_of_each(const plan::CollectivePlan& plan, const sim::TimeResult& time) {
  std::vector<LinkUse> uses;
  const std::vector<sim::Way>& ways = plan.simulated.machine.ways.front();
  for (std::size_t channel = 0; channel < ways.size(); ++channel) {
    const sim::LinkIndex link = ways[channel].route.front();
    if (link == uses.size())  // the first channel over it
      uses.push_back({fmt::format("every chip's link {}", plan.program.channels[channel].name),
                      {},
                      {},
                      time.link_bytes[link],
                      time.link_busy_s[link]});
  }
  return uses;
}

FailureReport report_failure(const plan::CollectivePlan& plan,
                             const sim::TransferFailure& failure) {
  const sim::Machine& machine = plan.simulated.machine;
  return {failure.time_s, machine.links[failure.link].name, machine.chip_names[failure.sender],
          machine.chip_names[failure.receiver],
          collectives::describe_cargo(plan.program, failure.message)};
}

/// Fills in what the simulation says.
void report_time(const plan::CollectivePlan& plan, const sim::TimeResult& time, RunResult& run) {
  const sim::Machine& machine = plan.simulated.machine;
  run.label = plan.config.label;
  run.algorithm = plan.config.algorithm;
  run.time_s = time.time_s;
  run.lower_bound_s = sim::lower_bound_s(plan.program, machine);
  run.wire_bytes_per_link = std::ranges::max(sim::link_bytes(plan.program, machine));
  run.chips = plan.program.ranks();
  run.messages = time.messages;
  run.symmetric = plan.simulated.symmetric;
  run.simulation_reason = plan.simulated.reason;
  run.core_busy_s = std::ranges::max(time.core_busy_s);
  run.links = run.symmetric ? links_of_each(plan, time) : all_links(machine, time);
  if (time.failure) run.failure = report_failure(plan, *time.failure);
}

/// Adds `count` repetitions of a part to a whole.
void add_repeated(const sim::TimeResult& part, std::uint32_t count, sim::TimeResult& whole) {
  whole.time_s += count * part.time_s;
  whole.messages += count * part.messages;
  const auto add = [&](auto& sums, const auto& terms) {
    sums.resize(terms.size());
    for (std::size_t i = 0; i < terms.size(); ++i) sums[i] += count * terms[i];
  };
  add(whole.link_bytes, part.link_bytes);
  add(whole.link_busy_s, part.link_busy_s);
  add(whole.core_busy_s, part.core_busy_s);
}

/// A phase on representatives. All chips begin and end every layer together, with nothing under way; so
/// layers that are alike take the same time, and one of each kind is simulated.
sim::TimeResult simulate_layers(const plan::CollectivePlan& plan,
                                const plan::WorkloadPlan& workload) {
  const sim::Machine& machine = plan.simulated.machine;
  sim::TimeResult whole;
  for (const plan::LayerKind& kind : workload.layers)
    add_repeated(sim::simulate(plan.program, machine, plan.costs, {.schedule = kind.schedule}),
                 kind.count, whole);
  whole.time_s += workload.outside_layers_s;
  for (double& busy_s : whole.core_busy_s) busy_s += workload.outside_layers_s;
  return whole;
}

/// Of the chip that takes longest.
double compute_time_s(const plan::WorkloadPlan& workload, const sim::Machine& machine) {
  return workload.compute_s * (machine.slowdown.empty() ? 1.0 : std::ranges::max(machine.slowdown));
}

/// Computing and the AllReduces' bytes: one after the other where all chips are alike, and therefore in
/// step. Elsewhere, and with overlap, some links may be busy while a chip computes.
double phase_bound_s(const plan::CollectivePlan& plan, const plan::WorkloadPlan& workload,
                     double allreduce_bound_s) {
  const sim::Machine& machine = plan.simulated.machine;
  const double compute_s = compute_time_s(workload, machine);
  const double allreduces_s = workload.allreduces * allreduce_bound_s;
  const bool in_step =
      workload.schedule.overlap == 0 && sim::asymmetry(plan.program, machine).empty();
  return in_step ? compute_s + allreduces_s : std::max(compute_s, allreduces_s);
}

class Experiment {
 public:
  Experiment(const plan::Plan& plan, const Progress& progress, const ExperimentOptions& options)
      : plan_(plan),
        progress_(progress),
        value_threads_(options.value_threads),
        observer_(options.observer),
        source_(make_source(plan.config.tensor)) {
    if (plan.workload) schedule_ = plan.workload->schedule;
  }

  ExperimentResult run() {
    ExperimentResult result{plan_.config, std::vector<RunResult>(plan_.collectives.size()), {}};
    for (std::size_t i = 0; i < plan_.collectives.size(); ++i)
      chosen_.push_back(choose(plan_.collectives[i], result.runs[i]));
    if (observer_ != nullptr) observer_->check_size(chosen_plans(), schedule_);
    // Values before times: they decide the bytes on the wire. The baseline first of all: others compare
    // with it.
    if (plan_.config.numerics) compute_all(result.runs);
    for (std::size_t i = 0; i < chosen_.size(); ++i) time(chosen_[i], result.runs[i]);
    if (plan_.workload) result.operations = plan_.workload->operations;
    const RunResult& baseline = result.runs[plan_.config.baseline];
    for (RunResult& run : result.runs)
      if (!run.failure && !baseline.failure) run.speedup = baseline.time_s / run.time_s;
    return result;
  }

 private:
  struct Chosen {
    const plan::CollectivePlan* plan = nullptr;
    std::optional<sim::TimeResult> time;  ///< if it was simulated to be chosen
  };

  std::vector<const plan::CollectivePlan*> chosen_plans() const {
    std::vector<const plan::CollectivePlan*> plans;
    for (const Chosen& chosen : chosen_) plans.push_back(chosen.plan);
    return plans;
  }

  /// The only way, or the fastest. Candidates come by rising lower bound, so once that is beyond the best
  /// time no other can win.
  Chosen choose(const plan::PlannedCollective& planned, RunResult& run) {
    if (planned.candidates.size() == 1 && planned.unsuited.empty())
      return {&planned.candidates.front(), std::nullopt};
    Chosen best;
    double best_s = std::numeric_limits<double>::infinity();
    for (const plan::CollectivePlan& candidate : planned.candidates) {
      const sim::Machine& machine = candidate.simulated.machine;
      const double bound_s = sim::lower_bound_s(candidate.program, machine);
      Candidate& report =
          run.candidates.emplace_back(Candidate{candidate.config.algorithm, std::nullopt, {}});
      if (bound_s > best_s) {
        report.note = fmt::format("cannot win: its lower bound is {}",
                                  units::format_short(bound_s, units::Dimension::time));
        continue;
      }
      progress_(
          fmt::format("{}: trying {}", candidate.config.label, candidate.config.algorithm->name));
      sim::TimeResult time = sim::simulate(candidate.program, machine, candidate.costs);
      const bool failed = time.failure.has_value();
      if (failed)
        report.note = "fails: it uses a link that breaks";
      else
        report.time_s = time.time_s;
      if (failed ? best.plan != nullptr : time.time_s >= best_s) continue;
      if (!failed) best_s = time.time_s;
      best = {&candidate, std::move(time)};
    }
    for (const plan::Unsuited& other : planned.unsuited)
      run.candidates.push_back({other.algorithm, std::nullopt, other.reason});
    return best;
  }

  void compute_all(std::vector<RunResult>& runs) {
    const std::size_t first = plan_.config.baseline;
    values::ResultTensor baseline(values::result_elements(chosen_[first].plan->program),
                                  plan_.config.tensor.dtype);
    compute(*chosen_[first].plan, runs[first], options({.result = &baseline}));
    runs[first].numerics->against_baseline = numerics::ErrorMetrics{};
    for (std::size_t i = 0; i < runs.size(); ++i)
      if (i != first) compute(*chosen_[i].plan, runs[i], options({.baseline = &baseline}));
  }

  values::ValueOptions options(values::ValueOptions what) const {
    what.threads = value_threads_;
    what.rounding_seed = plan_.config.tensor.values.seed;
    what.sample = plan_.config.tensor.sample;
    return what;
  }

  void compute(const plan::CollectivePlan& collective, RunResult& run,
               const values::ValueOptions& options) {
    progress_(fmt::format("{}: computing the values of {} ranks", collective.config.label,
                          collective.program.ranks()));
    run.numerics = values::execute(collective.program, source_, options);
    check_values(collective, *run.numerics, plan_.config.tensor.sample == 1.0);
  }

  void time(Chosen& chosen, RunResult& run) {
    const plan::CollectivePlan& collective = *chosen.plan;
    const sim::Machine& machine = collective.simulated.machine;
    progress_(fmt::format("{}: simulating {} messages", collective.config.label,
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
    const double compute_s = compute_time_s(workload, collective.simulated.machine);
    run.phase = {compute_s, std::max(0.0, run.time_s - compute_s), workload.allreduces, repeat};
    if (run.failure) return;
    run.breakdown = break_down(collective, run.time_s, workload.allreduces);
    check_time(collective, time, run.lower_bound_s, workload.allreduces);
  }

  bool is_observed(const plan::CollectivePlan& collective) const {
    return observer_ != nullptr && observer_->wants(collective);
  }

  sim::TimeResult simulate_whole(const plan::CollectivePlan& collective) {
    const bool traced = is_observed(collective);
    sim::TimeResult time =
        sim::simulate(collective.program, collective.simulated.machine, collective.costs,
                      {.schedule = schedule_, .traced = traced});
    if (traced) observer_->add(collective, schedule_, time);
    return time;
  }

  const plan::Plan& plan_;
  const Progress& progress_;
  unsigned value_threads_;
  RunObserver* observer_;
  sim::Schedule schedule_;  ///< of the whole phase, or of the collective alone
  values::TensorSource source_;
  std::vector<Chosen> chosen_;  ///< by collective
};

}  // namespace

ExperimentResult run_experiment(const plan::Plan& plan, const Progress& progress,
                                const ExperimentOptions& options) {
  return Experiment(plan, progress, options).run();
}

}  // namespace equarx::run
