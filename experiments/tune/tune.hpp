// Tunes a collective: computes the Pareto front of latency against error.
//
// A candidate is on the front if no other candidate is at least as good in both and better in one.
// Its time is simulated; its error is the NMSE computed on a sample of the tensor, once for all
// candidates that differ only in microshards (which change no value). Errors are compared after
// rounding to 0.1 dB, the accuracy of the sample.
//
// Best-first search by lower bound on the time. Pruned candidates cannot be on the front:
//  - by bound: a simulated candidate is faster than the bound and has no larger error. Bounds hold
//    by
//    construction (bounds.hpp); every simulation is checked against its bound.
//  - by error: as above, or by an error limit, using the theoretical floor of an error that has not
//    been
//    computed (theory.hpp). The floor includes a margin; every computed error is checked against
//    it, and
//    a violation restarts the search without theory.
// Both rules prune only candidates that a simulated one beats in time by more than rounding without
// a larger error. The front therefore equals the front of the exhaustive search, including the
// representative of candidates with equal time and error: the first enumerated.
//
//  - by contract: a promise is broken. Checked last, once for each error, on the same sample; the best
//    candidate is checked on all elements.
//
// Candidates that need too much time or memory are skipped. If a bound leaves open that a skipped
// candidate is on the front, the result reports it, and the front is not proved.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "experiments/contract/promises.hpp"
#include "experiments/run/experiment.hpp"
#include "experiments/tune/limits.hpp"
#include "experiments/tune/space.hpp"
#include "models/hardware/energy.hpp"

namespace equarx::tune {

/// Options of `tune`.
struct TuneOptions {
  TuneLimits limits;
  /// Promises that candidates must keep. The space then also has candidates that differ in their
  /// arithmetic of sums.
  std::vector<contract::Promise> promises = {};
  bool promise_costs = true;              ///< also find TuneResult::promise_costs
  std::vector<std::string> formats = {};  ///< see tune_formats()
  bool exhaustive = false;                ///< simulate every candidate
  /// Wall-clock budget of the search in seconds. std::nullopt: no budget, but candidates that need
  /// more than `most_trial_s` or 2 GiB of memory are skipped.
  std::optional<double> budget_s;
  double most_trial_s = plan::kMostTrialTime;
};

/// A candidate with time and error.
struct TunedCandidate {
  std::size_t index = 0;  ///< in the space
  config::CollectiveConfig config;
  double time_s = 0.0;
  double bound_s = 0.0;                     ///< lower bound on the time first computed
  double nmse = 0.0;                        ///< computed
  std::optional<double> theory_nmse;        ///< predicted, if theory applies
  std::optional<std::uint32_t> minishards;  ///< per chunk, if equal for all chunks
  hardware::Expenses expenses = {};         ///< of all chips; computed for the front only
};

/// True if time and error are within the limits.
bool is_within(const TunedCandidate& candidate, const TuneLimits& limits);

/// Outcomes of the candidates. All but the duplicates sum to `candidates`.
struct TuneCounts {
  std::uint64_t candidates = 0;
  std::uint64_t by_bound = 0;     ///< pruned: too slow, or dominated by one with no larger error
  std::uint64_t by_error = 0;     ///< pruned by their predicted or computed error
  std::uint64_t by_contract = 0;  ///< pruned by a broken promise
  std::uint64_t cannot_run = 0;
  std::uint64_t not_tried = 0;  ///< skipped for time or memory; may be on the front
  std::uint64_t failed = 0;     ///< simulation stopped by a link failure
  std::uint64_t simulated = 0;  ///< to completion
  std::uint64_t duplicates = 0;
  std::uint64_t errors = 0;           ///< distinct errors among the candidates
  std::uint64_t errors_computed = 0;  ///< subset of `errors`
};

/// Candidates infeasible for the same reason.
struct InfeasibleCandidates {
  std::string reason;   ///< message with the JSON pointer at fault
  std::string example;  ///< label of the first one
  std::uint64_t count = 0;
};

/// Candidates of one family that were skipped and may be on the front.
struct SkippedCandidates {
  config::CollectiveConfig config;  ///< candidate with the lowest bound
  double bound_s = 0.0;             ///< lower bound on the time
  double nmse_floor = 0.0;          ///< lower bound on the error; 0 if unknown
  double cost_s = 0.0;              ///< estimated time to simulate all of them; 0 if not the reason
  std::string reason;               ///< reason of the first candidate
  std::uint64_t count = 0;
};

/// Candidates that break a promise.
struct BrokenPromises {
  contract::Promise promise{};
  std::string reason;   ///< how the first one breaks it
  std::string example;  ///< label of the first one
  std::uint64_t count = 0;
};

/// The fastest candidate within the limits that keeps some promises.
struct PromiseCost {
  std::vector<contract::Promise> promises;  ///< none: any candidate
  std::optional<TunedCandidate> fastest;    ///< std::nullopt: none keeps them
};

/// Result of `tune`.
struct TuneResult {
  config::ExperimentConfig config;  ///< with the baseline as its only collective
  std::size_t baseline_index = 0;   ///< into the original collectives
  TuneOptions options;
  run::RunResult baseline;
  std::vector<values::NonfiniteInput> nonfinite_inputs;  ///< as in run::ExperimentResult
  TuneCounts counts;
  std::vector<InfeasibleScheme> infeasible_schemes;
  std::vector<InfeasibleCandidates> infeasible;  ///< sum to counts.cannot_run
  std::vector<SkippedCandidates> skipped;        ///< sum to counts.not_tried; lowest bound first
  std::vector<BrokenPromises> broken;            ///< by promise; sum to counts.by_contract
  /// With promises: without any, with each alone, and with all if there are several.
  std::vector<PromiseCost> promise_costs;
  std::vector<TunedCandidate> front;   ///< within the limits, fastest first
  std::vector<TunedCandidate> others;  ///< simulated, but not on the front
  std::size_t best = 0;  ///< index into front: fastest; most accurate if only time is limited
  double sampled_fraction = 1.0;  ///< fraction of the tensor used to compute errors
  bool theory_refuted = false;    ///< an error was below its floor; theory was not used
};

/// The first of the promises that the baseline of a result breaks, on the sample that its error was
/// computed on; std::nullopt if it keeps all.
std::optional<contract::Broken> broken_by_baseline(const TuneResult& result);

/// Returns a result whose front is empty if no candidate is within the limits.
/// @throws InputError for invalid input, InvariantError if a bound does not hold
TuneResult find_front(const config::ExperimentConfig& config, const TuneOptions& options,
                      const run::Progress& progress);

/// Like find_front(), but with at least one candidate on the front.
/// @throws InputError for invalid input or if no candidate is within the limits (naming the
/// nearest), InvariantError if a bound does not hold
TuneResult tune(const config::ExperimentConfig& config, const TuneOptions& options,
                const run::Progress& progress);

}  // namespace equarx::tune
