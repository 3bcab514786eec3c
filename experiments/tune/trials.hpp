// What tuning finds out about candidates, by theory, by bounds, by simulation and on values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
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

  /// If nmse() was called.
  std::optional<double> known_nmse(std::size_t family) const { return nmse_[family]; }
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

 private:
  const TuneScheme& scheme(std::size_t family) const {
    return space_.schemes[space_.families[family].scheme];
  }
  plan::OrObstacle<plan::Plan> plan(std::size_t candidate) const;
  double whole_s(double collective_s) const;
  plan::OrObstacle<double> late_bound_s(std::size_t candidate) const;
  Time simulate(std::size_t candidate);
  config::CollectiveConfig in_small_parts(std::size_t family) const;
  plan::OrObstacle<double> compute(std::size_t family) const;

  const config::ExperimentConfig& config_;
  const TuneSpace& space_;
  std::optional<plan::WorkloadPlan> workload_;
  ErrorTheory theory_;
  std::vector<std::optional<ErrorPrediction>> predictions_;
  std::vector<std::optional<double>> nmse_;    ///< by family
  std::vector<std::optional<double>> bounds_;  ///< by candidate
  std::vector<std::optional<Time>> times_;     ///< by candidate
};

}  // namespace equarx::tune
