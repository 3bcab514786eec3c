// Finds the best ways to carry out a collective: the Pareto front of time against error.
//
// A candidate is on the front if no other is at least as good in both, and better in one. Its time is the
// simulation's; its error is the NMSE of values that are computed on a sample of the tensor, once for all
// candidates that differ in microshards alone (which change no value). Errors are compared after rounding
// to a tenth of a decibel, because a sample tells no more.
//
// The search takes the candidate with the lowest bound on its time first, and leaves out what cannot be on
// the front:
//  - by bound: a simulated candidate is faster than the bound, and its error is not larger. Bounds hold by
//    construction (bounds.hpp), and every simulation is checked against its bound.
//  - by error: the same, or a limit, with the floor that theory sets to an error that has not been computed
//    (theory.hpp). The floor has a margin; each error that is computed is checked against it, and if
//    one is below, all is searched again without theory.
// Both leave out only candidates that a simulated one beats in time by more than rounding and that are not
// better in error. So the front is that of the exhaustive search, down to which of several candidates
// with equal time and error stands for them: the first that is enumerated.
//
// Not tried is what takes too much time or memory to try. Where its bound leaves open that it might be on the
// front, the result says so: then the front is not proved.
//
// A workload's AllReduces come one after the other unless they overlap with computing. Then one AllReduce is
// simulated of each candidate, and its phase added up. That is exact where chips stay in step, and misses by some
// tenths of a per cent where they do not; so whole phases are simulated of the front.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "experiments/run/experiment.hpp"
#include "experiments/tune/limits.hpp"
#include "experiments/tune/space.hpp"

namespace equarx::tune {

/// What the user wants of `tune`.
struct TuneOptions {
  TuneLimits limits;
  std::vector<std::string> formats;  ///< see tune_formats()
  bool exhaustive = false;           ///< simulate every candidate
  /// Seconds, of the clock, in which candidates may be tried. None: all are that each take up to `most_trial_s`
  /// and 2 GiB of memory.
  std::optional<double> budget_s;
  double most_trial_s = plan::kMostTrialTime;
};

/// A candidate whose time and error are known.
struct TunedCandidate {
  std::size_t index = 0;  ///< in the space
  config::CollectiveConfig config;
  double time_s = 0.0;                      ///< of the collective, or of a workload's phase
  std::optional<double> allreduce_s;        ///< of one, if the phase's follow from it
  bool added_up = false;                    ///< the phase: as if chips were in step
  double bound_s = 0.0;                     ///< on the time as it was found first
  double nmse = 0.0;                        ///< computed
  std::optional<double> theory_nmse;        ///< predicted, if there is a theory
  std::optional<std::uint32_t> minishards;  ///< of each chunk, if all have as many
};

/// Whether neither its time nor its error is beyond its limit.
bool is_within(const TunedCandidate& candidate, const TuneLimits& limits);

/// What became of the candidates. All but the duplicates add up to `candidates`.
struct TuneCounts {
  std::uint64_t candidates = 0;
  std::uint64_t by_bound = 0;  ///< left out: too slow, or slower than one of no larger error
  std::uint64_t by_error = 0;  ///< left out by their error, predicted or computed
  std::uint64_t cannot_run = 0;
  std::uint64_t not_tried = 0;  ///< would take too much time or memory, and might be on the front
  std::uint64_t failed = 0;     ///< simulated, and stopped by a link that breaks
  std::uint64_t simulated = 0;  ///< to their end
  std::uint64_t duplicates = 0;
  std::uint64_t errors = 0;           ///< different errors among the candidates
  std::uint64_t errors_computed = 0;  ///< of them
};

/// Candidates that cannot run for the same reason.
struct UnfitCandidates {
  std::string reason;   ///< in words, with the place that is to blame
  std::string example;  ///< label of the first one
  std::uint64_t count = 0;
};

/// Candidates of one family that take too much to try and might be on the front.
struct UntriedCandidates {
  config::CollectiveConfig config;  ///< of the one with the lowest bound
  double bound_s = 0.0;             ///< none is faster; of the collective, or of a workload's phase
  double nmse_floor = 0.0;          ///< none has a smaller error; 0 if nothing is known of it
  double cost_s = 0.0;  ///< about how long simulating them all takes; 0 if that is not why
  std::string reason;   ///< of the first: what takes too much
  std::uint64_t count = 0;
};

/// All that `tune` has to say.
struct TuneResult {
  config::ExperimentConfig config;  ///< with the baseline as its only collective
  std::size_t baseline_index = 0;   ///< of the collectives that there were
  TuneOptions options;
  run::RunResult baseline;
  TuneCounts counts;
  std::vector<UnsuitedScheme> unsuited;
  std::vector<UnfitCandidates> unfit;      ///< add up to counts.cannot_run
  std::vector<UntriedCandidates> untried;  ///< add up to counts.not_tried; lowest bound first
  std::vector<TunedCandidate> front;       ///< within the limits, fastest first
  std::vector<TunedCandidate> others;      ///< simulated, and not on the front
  std::size_t best = 0;  ///< of the front: the fastest; the most accurate if time alone is limited
  double sampled_fraction = 1.0;  ///< of the tensor, that errors were computed on
  bool theory_refuted = false;    ///< an error was below its floor, and theory was not used
};

/// The front is empty if nothing is within the limits. @throws InputError for input that is wrong
/// @throws InvariantError if a bound does not hold.
TuneResult find_front(const config::ExperimentConfig& config, const TuneOptions& options,
                      const run::Progress& progress);

/// With at least one candidate on the front. @throws InputError if nothing is within the limits (saying what is nearest), or for input that is wrong.
/// @throws InvariantError if a bound does not hold.
TuneResult tune(const config::ExperimentConfig& config, const TuneOptions& options,
                const run::Progress& progress);

}  // namespace equarx::tune
