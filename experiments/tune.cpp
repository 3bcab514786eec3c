#include "experiments/tune.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <queue>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "experiments/input_error.hpp"
#include "experiments/plan_checks.hpp"
#include "experiments/tune_bounds.hpp"
#include "experiments/tune_theory.hpp"
#include "models/units/quantity.hpp"

namespace equarx::experiments {
namespace {

/// Bounds that are met exactly may be missed by rounding: SimGrid's clock has steps of a picosecond.
constexpr double kRounding = 1e-6;

/// Errors are compared in steps of a tenth of a decibel, larger errors as larger numbers: a sample does not
/// tell more.
double error_step(double nmse) {
  constexpr double kStepsPerDecibel = 10.0;
  return std::round(-sqnr_db(nmse) * kStepsPerDecibel);
}

/// Share of the tensor that errors are computed on: about so many elements, if the value executor's windows
/// are as small, and what the user asks for at most.
double sample_of(const TensorConfig& tensor) {
  constexpr double kElements = 1 << 17;
  return std::min({1.0, tensor.sample, kElements / static_cast<double>(tensor.elements)});
}

/// What has been found out, each thing once, however often it is asked for.
class Laboratory {
 public:
  struct Time {
    std::optional<double> time_s;  ///< none if a link breaks
    std::optional<std::uint32_t> minishards;
  };

  Laboratory(const ExperimentConfig& config, const TuneSpace& space)
      : config_(config),
        space_(space),
        theory_(config),
        predictions_(space.families.size()),
        nmse_(space.families.size()),
        bounds_(space.candidates.size()),
        times_(space.candidates.size()) {
    if (config.workload) workload_ = plan_workload(config);
    for (std::size_t i = 0; i < space.families.size(); ++i)
      predictions_[i] = theory_.predict(scheme(i), space.families[i].config);
  }

  const std::optional<ErrorPrediction>& prediction(std::size_t family) const {
    return predictions_[family];
  }
  std::optional<double> known_nmse(std::size_t family) const { return nmse_[family]; }

  std::uint64_t errors_computed() const {
    return static_cast<std::uint64_t>(std::ranges::count_if(
        nmse_, [](const std::optional<double>& nmse) { return nmse.has_value(); }));
  }

  /// @throws InputError if its values do not fit this computer.
  double nmse(std::size_t family) {
    if (!nmse_[family]) nmse_[family] = compute(family);
    return *nmse_[family];
  }

  /// Without making its program.
  double early_bound_s(std::size_t family) const {
    return whole_s(
        traffic_bound_s(scheme(family), space_.families[family].config, config_.tensor.dtype));
  }

  /// @throws InputError if it cannot run.
  double bound_s(std::size_t candidate) {
    if (!bounds_[candidate])
      bounds_[candidate] =
          std::max(early_bound_s(space_.candidates[candidate].family), late_bound_s(candidate));
    return *bounds_[candidate];
  }

  const Time& time(std::size_t candidate) {
    if (!times_[candidate]) times_[candidate] = simulate(candidate);
    return *times_[candidate];
  }

 private:
  const TuneScheme& scheme(std::size_t family) const {
    return space_.schemes[space_.families[family].scheme];
  }

  Plan plan(std::size_t candidate) const {
    return make_plan(with_collective(config_, config_of(space_, space_.candidates[candidate])));
  }

  double whole_s(double collective_s) const {
    if (!workload_) return collective_s;
    const std::uint32_t chips = space_.schemes.front().partition.grid().ranks();
    return phase_bound_s(config_, *workload_, chips, collective_s);
  }

  /// Of its program.
  double late_bound_s(std::size_t candidate) const {
    const CollectiveConfig collective = config_of(space_, space_.candidates[candidate]);
    const double runs = workload_ ? workload_->allreduces : 1.0;
    const double simulation_s = runs * simulation_time_s(collective, config_, "/collectives/0");
    if (simulation_s > kMostTrialTime)
      throw InputError("", fmt::format("simulating it would take about {:.0f} s", simulation_s));
    return whole_s(program_bound_s(plan(candidate).collectives.front().candidates.front()));
  }

  Time simulate(std::size_t candidate) {
    const Plan made = plan(candidate);
    const RunResult run = run_experiment(made, [](const std::string&) {}).runs.front();
    if (run.failure) return {};
    if (run.time_s < bound_s(candidate) * (1.0 - kRounding))
      throw InvariantError(fmt::format(
          "internal error in '{}': simulated time {} s is below its bound {} s; please report this",
          run.label, run.time_s, bound_s(candidate)));
    return {run.time_s, made.config.collectives.front().minishards};
  }

  /// The same values in parts that are small enough for a sample: what is not scaled has the same values
  /// whatever its minishards.
  CollectiveConfig in_small_parts(std::size_t family) const {
    constexpr std::uint64_t kElements = 1 << 15;
    CollectiveConfig collective = space_.families[family].config;
    if (collective.format.scaled) return collective;
    std::uint64_t smallest = config_.tensor.elements;
    for_each_chunk(scheme(family).partition,
                   [&](std::uint64_t elements) { smallest = std::min(smallest, elements); });
    collective.minishards =
        static_cast<std::uint32_t>(std::max<std::uint64_t>(1, smallest / kElements));
    return collective;
  }

  static void check_trial_memory(const collectives::Program& program) {
    constexpr std::uint64_t kMost = std::uint64_t{2} << 30;  // bytes
    if (values::memory_bytes(program, values::default_threads()) > kMost)
      throw InputError("", "computing its error would take too much memory");
  }

  double compute(std::size_t family) const {
    ExperimentConfig config = with_collective(config_, in_small_parts(family));
    const Plan made = make_plan(config);
    const collectives::Program& program = made.collectives.front().candidates.front().program;
    config.numerics = true;
    check_host_memory(program, config);
    check_trial_memory(program);
    const TensorConfig& tensor = config_.tensor;
    const values::TensorSource source =
        tensor.files.empty() ? values::TensorSource(tensor.values, tensor.elements, tensor.dtype)
                             : values::TensorSource(tensor.opened, tensor.elements, tensor.dtype);
    const values::ValueResult result = values::execute(
        program, source, {.rounding_seed = tensor.values.seed, .sample = sample_of(tensor)});
    if (!result.ranks_identical)
      throw InvariantError(
          "internal error: the ranks ended with different results; please report "
          "this");
    return result.against_exact.nmse;
  }

  const ExperimentConfig& config_;
  const TuneSpace& space_;
  std::optional<WorkloadPlan> workload_;
  ErrorTheory theory_;
  std::vector<std::optional<ErrorPrediction>> predictions_;
  std::vector<std::optional<double>> nmse_;    ///< by family
  std::vector<std::optional<double>> bounds_;  ///< by candidate
  std::vector<std::optional<Time>> times_;
};

/// One pass through the space.
class Search {
 public:
  Search(const TuneSpace& space, const TuneOptions& options, bool use_theory,
         Laboratory& laboratory, const Progress& progress)
      : space_(space),
        options_(options),
        use_theory_(use_theory),
        laboratory_(laboratory),
        progress_(progress) {
    counts_.candidates = space.candidates.size();
    counts_.duplicates = space.duplicates;
    counts_.errors = space.families.size();
  }

  void run() {
    for (std::size_t i = 0; i < space_.candidates.size(); ++i)
      queue_.push({laboratory_.early_bound_s(space_.candidates[i].family), i, false});
    while (!queue_.empty()) {
      const Waiting next = queue_.top();
      queue_.pop();
      try {
        decide(next);
      } catch (const InputError&) {
        ++counts_.unfit;
      }
    }
    counts_.errors_computed = laboratory_.errors_computed();
  }

  const TuneCounts& counts() const { return counts_; }
  const std::vector<TunedCandidate>& simulated() const { return simulated_; }
  bool theory_refuted() const { return theory_refuted_; }

 private:
  struct Waiting {
    double bound_s;
    std::size_t candidate;
    bool has_program;  ///< the bound is that of its program

    /// For a queue whose top is the lowest bound.
    bool operator<(const Waiting& other) const {
      return std::pair(bound_s, candidate) > std::pair(other.bound_s, other.candidate);
    }
  };

  void decide(const Waiting& next) {
    const std::size_t family = space_.candidates[next.candidate].family;
    if (!options_.exhaustive) {
      if (left_out(next.bound_s, family)) return;
      if (!next.has_program)
        return queue_.push({laboratory_.bound_s(next.candidate), next.candidate, true});
    }
    const double nmse = laboratory_.nmse(family);
    const auto& prediction = laboratory_.prediction(family);
    if (use_theory_ && prediction && nmse < prediction->floor) theory_refuted_ = true;
    if (!options_.exhaustive && left_out(next.bound_s, family)) return;
    simulate(next.candidate, nmse);
  }

  /// Counts a candidate that cannot be on the front.
  bool left_out(double bound_s, std::size_t family) {
    const TuneLimits& limits = options_.limits;
    const double at_least_s = bound_s * (1.0 - kRounding);
    const std::optional<double> known = laboratory_.known_nmse(family);
    const double error = known.value_or(floor(family));
    const bool too_slow = limits.max_time_s && at_least_s > *limits.max_time_s;
    const bool too_wrong = limits.max_nmse && error > *limits.max_nmse;
    const bool beaten = std::ranges::any_of(simulated_, [&](const TunedCandidate& other) {
      return other.time_s < at_least_s && other.nmse <= error;
    });
    if (!too_slow && !too_wrong && !beaten) return false;
    const bool by_error = !too_slow && (too_wrong || !known);
    ++(by_error ? counts_.by_error : counts_.by_bound);
    return true;
  }

  /// Of an error that is not known.
  double floor(std::size_t family) const {
    const auto& prediction = laboratory_.prediction(family);
    return use_theory_ && prediction ? prediction->floor : 0.0;
  }

  void simulate(std::size_t candidate, double nmse) {
    progress_(fmt::format(
        "{} of {} candidates decided, {} simulated",
        counts_.by_bound + counts_.by_error + counts_.unfit + counts_.failed + counts_.simulated,
        counts_.candidates, counts_.simulated));
    const double bound_s = laboratory_.bound_s(candidate);
    const Laboratory::Time& time = laboratory_.time(candidate);
    if (!time.time_s) {
      ++counts_.failed;
      return;
    }
    ++counts_.simulated;
    const auto& prediction = laboratory_.prediction(space_.candidates[candidate].family);
    simulated_.push_back(
        {candidate, config_of(space_, space_.candidates[candidate]), *time.time_s, bound_s, nmse,
         prediction ? std::optional(prediction->nmse) : std::nullopt, time.minishards});
  }

  const TuneSpace& space_;
  const TuneOptions& options_;
  bool use_theory_;
  Laboratory& laboratory_;
  const Progress& progress_;
  std::priority_queue<Waiting> queue_;
  std::vector<TunedCandidate> simulated_;
  TuneCounts counts_;
  bool theory_refuted_ = false;
};

bool is_within(const TunedCandidate& candidate, const TuneLimits& limits) {
  return candidate.nmse <= limits.max_nmse.value_or(std::numeric_limits<double>::infinity()) &&
         candidate.time_s <= limits.max_time_s.value_or(std::numeric_limits<double>::infinity());
}

/// Sorts the candidates that were simulated into the front and the others.
void find_front(std::vector<TunedCandidate> simulated, const TuneLimits& limits,
                TuneResult& result) {
  std::ranges::sort(simulated, [](const TunedCandidate& one, const TunedCandidate& other) {
    return std::tuple(one.time_s, error_step(one.nmse), one.index) <
           std::tuple(other.time_s, error_step(other.nmse), other.index);
  });
  double least = std::numeric_limits<double>::infinity();
  for (TunedCandidate& candidate : simulated) {
    const double error = error_step(candidate.nmse);
    const bool better = is_within(candidate, limits) && error < least;
    if (better) least = error;
    (better ? result.front : result.others).push_back(std::move(candidate));
  }
}

std::string time_text(double seconds) {
  return units::format_short(seconds, units::Dimension::time);
}

/// Says what is nearest to the limits, by the front without any.
[[noreturn]] void refuse_limits(const std::vector<TunedCandidate>& front,
                                const TuneLimits& limits) {
  if (front.empty()) throw InputError("", "no candidate can run to its end here");
  const TunedCandidate& fastest = front.front();
  const TunedCandidate& most_accurate = front.back();
  if (limits.max_time_s && fastest.time_s > *limits.max_time_s)
    throw InputError("--max-time", fmt::format("nothing takes less than {}, which {} takes; allow "
                                               "that much",
                                               time_text(fastest.time_s), fastest.config.label));
  if (limits.max_nmse && most_accurate.nmse > *limits.max_nmse)
    throw InputError(
        "--max-nmse",
        fmt::format("nothing has a smaller error than {}: NMSE {:.3g} (SQNR {:.2f} dB); allow that "
                    "much, or more formats",
                    most_accurate.config.label, most_accurate.nmse, sqnr_db(most_accurate.nmse)));
  const auto accurate = std::ranges::find_if(
      front, [&](const TunedCandidate& one) { return one.nmse <= *limits.max_nmse; });
  const TunedCandidate& in_time = *std::prev(accurate);
  throw InputError(
      "--max-time",
      fmt::format(
          "nothing is that fast with so small an error: {} takes {}, and the most accurate "
          "within the time is {} with NMSE {:.3g} (SQNR {:.2f} dB); relax one of the limits",
          accurate->config.label, time_text(accurate->time_s), in_time.config.label, in_time.nmse,
          sqnr_db(in_time.nmse)));
}

RunResult run_baseline(const ExperimentConfig& config, const Progress& progress) {
  ExperimentConfig one = with_collective(config, config.collectives[config.baseline]);
  one.numerics = true;
  one.tensor.sample = sample_of(config.tensor);
  return run_experiment(make_plan(one), progress).runs.front();
}

struct Found {
  TuneCounts counts;
  std::vector<TunedCandidate> simulated;
  bool theory_refuted = false;
};

/// With theory, and without it if it proves wrong.
Found search(const TuneSpace& space, const TuneOptions& options, Laboratory& laboratory,
             const Progress& progress) {
  Search pass(space, options, true, laboratory, progress);
  pass.run();
  if (!pass.theory_refuted()) return {pass.counts(), pass.simulated(), false};
  Search again(space, options, false, laboratory, progress);
  again.run();
  return {again.counts(), again.simulated(), true};
}

}  // namespace

double sqnr_db(double nmse) {
  constexpr double kDecibels = 10.0;
  return -kDecibels * std::log10(nmse);
}

TuneResult tune(const ExperimentConfig& config, const TuneOptions& options,
                const Progress& progress) {
  const TuneSpace space = enumerate(config, tune_formats(options.formats));
  TuneResult result;
  result.config = with_collective(config, config.collectives[config.baseline]);
  result.baseline_index = config.baseline;
  result.options = options;
  result.unsuited = space.unsuited;
  result.baseline = run_baseline(config, progress);
  result.sampled_fraction = result.baseline.numerics->sampled_fraction;

  Laboratory laboratory(config, space);
  Found found = search(space, options, laboratory, progress);
  result.counts = found.counts;
  result.theory_refuted = found.theory_refuted;
  find_front(std::move(found.simulated), options.limits, result);
  if (result.front.empty()) {
    TuneOptions unlimited = options;
    unlimited.limits = {};
    find_front(search(space, unlimited, laboratory, progress).simulated, {}, result);
    refuse_limits(result.front, options.limits);
  }
  if (options.limits.max_time_s && !options.limits.max_nmse) result.best = result.front.size() - 1;
  return result;
}

}  // namespace equarx::experiments
