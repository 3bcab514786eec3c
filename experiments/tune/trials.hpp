// What tuning finds out about candidates, by theory, by bounds, by simulation and on values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "experiments/plan/workload.hpp"
#include "experiments/run/experiment.hpp"
#include "experiments/tune/space.hpp"
#include "experiments/tune/theory.hpp"

namespace equarx::tune {

/// Share of the tensor that errors are computed on: about 131,072 elements, if the value executor's windows
/// are as small, and what the user asks for at most.
double trial_sample(const config::TensorConfig& tensor);

/// Each thing is found out once, however often it is asked for. Families and candidates are named by their index
/// in the space.
class TuneTrials {
 public:
  /// A candidate's simulated time, with the cut that gave it.
  struct Time {
    std::optional<double> time_s;  ///< none if a link breaks
    std::optional<std::uint32_t> minishards;
  };

  /// Both must outlive this.
  TuneTrials(const config::ExperimentConfig& config, const TuneSpace& space);

  /// Without computing anything on values that the user brings.
  const std::optional<ErrorPrediction>& prediction(std::size_t family) const {
    return predictions_[family];
  }

  /// If nmse() was called: what was found out ahead of that does not count, so that the search does not depend on
  /// the number of cores.
  std::optional<double> known_nmse(std::size_t family) const;
  std::uint64_t errors_computed() const;

  /// An obstacle if its values do not fit this computer, or take too much of it for a trial.
  plan::OrObstacle<double> nmse(std::size_t family);

  /// No candidate of the family is faster. Found without making a program.
  double early_bound_s(std::size_t family) const;

  /// The candidate is not faster. At least early_bound_s(). An obstacle if it cannot run, or would take too
  /// long to simulate.
  plan::OrObstacle<double> bound_s(std::size_t candidate);

  /// Simulates a candidate that has a bound. @throws InvariantError if it is faster than that.
  const Time& time(std::size_t candidate);

  /// What somebody will probably ask next of a candidate: its bound, or else its error, and its time if that is
  /// wanted once its error is known.
  struct Question {
    std::size_t candidate = 0;
    bool of_bound = false;
    std::function<bool(double nmse)> wants_time;
  };
  /// Whether the answer is there.
  bool knows(const Question& question) const;
  /// Finds answers side by side, on as many threads as there are cores. Each is what asking alone gives.
  void look_ahead(std::span<const Question> questions);

 private:
  const TuneScheme& scheme(std::size_t family) const {
    return space_.schemes[space_.families[family].scheme];
  }
  bool wants_time(const Question& question) const;
  plan::OrObstacle<plan::Plan> plan(std::size_t candidate) const;
  double whole_s(double collective_s) const;
  plan::OrObstacle<double> find_bound_s(std::size_t candidate) const;
  plan::OrObstacle<double> late_bound_s(std::size_t candidate) const;
  Time simulate(std::size_t candidate, double bound_s) const;
  config::CollectiveConfig in_small_parts(std::size_t family) const;
  plan::OrObstacle<double> compute(std::size_t family, unsigned threads) const;

  const config::ExperimentConfig& config_;
  const TuneSpace& space_;
  values::TensorSource source_;
  std::optional<plan::WorkloadPlan> workload_;
  ErrorTheory theory_;
  std::vector<std::optional<ErrorPrediction>> predictions_;
  using Found = std::vector<std::optional<plan::OrObstacle<double>>>;
  Found nmse_;                              ///< by family
  std::vector<bool> asked_;                 ///< by family: whether nmse() was
  Found bounds_;                            ///< by candidate
  std::vector<std::optional<Time>> times_;  ///< by candidate
};

}  // namespace equarx::tune
