// Evaluates candidates: predicted and computed errors, time bounds, simulated times.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include <tl/expected.hpp>

#include "base/process/thread_pool.hpp"
#include "experiments/contract/promises.hpp"
#include "experiments/run/experiment.hpp"
#include "experiments/tune/lazy_table.hpp"
#include "experiments/tune/space.hpp"
#include "experiments/tune/theory.hpp"

namespace equarx::tune {

/// Fraction of the tensor that errors are computed on: about 131,072 elements if the value
/// executor's windows are that small, at most the configured sample.
double trial_sample(const config::TensorConfig& tensor);

/// Not evaluated: exceeds the resource limits.
struct Skipped {
  std::string reason;  ///< "computing its error would take 3 GiB of memory"
};

/// Why an NMSE is not computed.
using NoNmse = std::variant<plan::Infeasible, Skipped>;
/// An NMSE, or why it is not computed.
using ExpectedNmse = tl::expected<double, NoNmse>;

/// Returns the NMSE of a planned collective against the exact result on trial_sample() of the
/// tensor. `config`: the configuration with this collective only. `most_bytes`: memory limit
ExpectedNmse trial_nmse(const plan::CollectivePlan& planned, const config::ExperimentConfig& config,
                        std::uint64_t most_bytes);

/// Memoizes every result. Families and candidates are indices into the space.
class TuneTrials {
 public:
  /// Simulated time of a candidate with its tiling.
  struct Time {
    std::optional<double> time_s;  ///< std::nullopt if a link fails
    std::optional<std::uint32_t> minishards;
  };

  /// `most_bytes`: memory limit for the error of a candidate. `config` and `space` must outlive
  /// this.
  TuneTrials(const config::ExperimentConfig& config, const TuneSpace& space,
             std::uint64_t most_bytes);

  /// Seconds since construction.
  double elapsed_s() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - began_).count();
  }

  /// Prediction without computing on the tensor's values.
  const std::optional<ErrorPrediction>& prediction(std::size_t family) const {
    return predictions_[family];
  }

  /// Returns the error if nmse() was called; errors computed speculatively do not count, so the
  /// search is independent of the number of cores.
  std::optional<double> computed_nmse(std::size_t family) const;
  std::uint64_t errors_computed() const;

  ExpectedNmse nmse(std::size_t family);

  /// A promise that the family breaks, on trial_sample() of the tensor; std::nullopt if it keeps all.
  std::optional<contract::Broken> find_broken(std::size_t family,
                                              std::span<const contract::Promise> promises);
  /// One that find_broken() has found, or note_broken() was given.
  std::optional<contract::Broken> known_broken(std::size_t family,
                                               std::span<const contract::Promise> promises) const;
  /// Notes a promise that breaks outside the sample.
  void note_broken(std::size_t family, const contract::Broken& broken);

  /// Lower bound on the times of the family; needs no program.
  double early_bound_s(std::size_t family) const;

  /// Estimated time to simulate the candidate, in seconds; Infeasible if it cannot run.
  plan::Expected<double> cost_s(std::size_t candidate) const;

  /// Lower bound on the candidate's time, at least early_bound_s(); Infeasible if it cannot run.
  plan::Expected<double> bound_s(std::size_t candidate) {
    return bounds_.get(candidate).map([](const Bounds& bounds) { return bounds.whole_s; });
  }

  /// Lower bound on the time of a candidate by its core time, from the program of its family with one
  /// microshard; 0 where none applies.
  double core_bound_s(std::size_t candidate);
  /// The same if that program has been made, otherwise std::nullopt.
  std::optional<double> known_core_bound_s(std::size_t candidate) const;

  /// Simulates a candidate that has a bound. @throws InvariantError if it is faster than its bound
  const Time& time(std::size_t candidate) { return times_.get(candidate); }
  bool has_time(std::size_t candidate) const { return times_.is_ready(candidate); }
  /// True if candidates may have no time because links fail.
  bool may_fail() const;

  /// Results of a candidate that the search will probably need: its bound; or its error, and its
  /// time if the error is below `nmse_below`.
  struct Key {
    std::size_t candidate = 0;
    bool of_bound = false;
    double nmse_below = 0.0;
  };
  /// True if all results of the key are computed.
  bool is_ready(const Key& key) const;
  /// Number of keys that keep the pool busy.
  std::size_t ahead() const { return kAhead * pool_.threads(); }
  /// Replaces the speculative work of the pool by these keys, in this order. Does not change
  /// results.
  void look_ahead(const std::vector<Key>& keys);

 private:
  /// Lower bounds on the time of a candidate with its program.
  struct Bounds {
    double whole_s = 0.0;
    double core_s = 0.0;        ///< of the family
    double microshard_s = 0.0;  ///< core_of_microshard_s() of the family
  };

  const TuneScheme& scheme(std::size_t family) const {
    return space_.schemes[space_.families[family].scheme];
  }
  /// Keys per worker: enough to last while the caller computes an error, which takes as long as ten
  /// bounds.
  static constexpr std::size_t kAhead = 12;

  void compute_ahead(const Key& key);
  bool needs_time(const Key& key) const;
  plan::Expected<plan::Plan> plan(std::size_t candidate) const;
  plan::Expected<Bounds> find_bounds(std::size_t candidate) const;
  Time simulate(std::size_t candidate) const;
  ExpectedNmse compute(std::size_t family) const;

  std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
  const config::ExperimentConfig& config_;
  const TuneSpace& space_;
  std::uint64_t most_bytes_;
  values::TensorSource source_;
  ErrorTheory theory_;
  std::vector<std::optional<ErrorPrediction>> predictions_;
  std::vector<bool> requested_;  ///< by family: true if nmse() was called
  /// By family and promise: how it breaks it; empty if it keeps it.
  std::vector<std::array<std::optional<std::string>, contract::kPromises.size()>> broken_;
  mutable std::mutex large_;                  ///< held while an error takes much memory
  LazyTable<ExpectedNmse> nmse_;              ///< by family
  LazyTable<plan::Expected<Bounds>> bounds_;  ///< by candidate
  LazyTable<Time> times_;                     ///< by candidate
  process::ThreadPool pool_;  ///< last member: joins before its inputs are destroyed
};

}  // namespace equarx::tune
