// What tuning finds out about candidates, by theory, by bounds, by simulation and on values.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "experiments/plan/workload.hpp"
#include "experiments/process/helpers.hpp"
#include "experiments/run/experiment.hpp"
#include "experiments/tune/answers.hpp"
#include "experiments/tune/space.hpp"
#include "experiments/tune/theory.hpp"

namespace equarx::tune {

/// Share of the tensor that errors are computed on: about 131,072 elements, if the value executor's windows
/// are as small, and what the user asks for at most.
double trial_sample(const config::TensorConfig& tensor);

/// Trying it takes more of this computer than is allowed.
struct TooMuch {
  std::string reason;  ///< in words: "computing its error would take 3 GiB of memory"
};

/// What was asked for, or why it cannot be had.
using Finding = std::variant<double, plan::Obstacle, TooMuch>;

/// The error of a planned collective against the exact result, on trial_sample() of the tensor.
/// `config`: has it as its only one. `most_bytes`: of memory, to compute it
Finding trial_nmse(const plan::CollectivePlan& planned, const config::ExperimentConfig& config,
                   std::uint64_t most_bytes);

/// Each thing is found out once, however often it is asked for. Families and candidates are named by their index
/// in the space.
class TuneTrials {
 public:
  /// A candidate's simulated time, with the cut that gave it.
  struct Time {
    std::optional<double> time_s;       ///< none if a link breaks
    std::optional<double> allreduce_s;  ///< of one, if the time of a phase was made of it
    std::optional<std::uint32_t> minishards;
  };

  /// `most_bytes`: of memory, to compute the error of a candidate. The others must outlive this.
  TuneTrials(const config::ExperimentConfig& config, const TuneSpace& space,
             std::uint64_t most_bytes);

  /// Seconds since this was made.
  double elapsed_s() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - began_).count();
  }

  /// Without computing anything on values that the user brings.
  const std::optional<ErrorPrediction>& prediction(std::size_t family) const {
    return predictions_[family];
  }

  /// If nmse() was called: what was found out ahead of that does not count, so that the search does not depend on
  /// the number of cores.
  std::optional<double> known_nmse(std::size_t family) const;
  std::uint64_t errors_computed() const;

  Finding nmse(std::size_t family);

  /// No candidate of the family is faster. Found without making a program.
  double early_bound_s(std::size_t family) const;

  /// About how long simulating the candidate takes, in seconds. An obstacle if it cannot run.
  plan::OrObstacle<double> cost_s(std::size_t candidate) const;

  /// The candidate is not faster. At least early_bound_s(). An obstacle if it cannot run.
  plan::OrObstacle<double> bound_s(std::size_t candidate) { return bounds_.ask(candidate); }

  /// Simulates a candidate that has a bound. @throws InvariantError if it is faster than that.
  const Time& time(std::size_t candidate) { return times_.ask(candidate); }
  bool knows_time(std::size_t candidate) const { return times_.knows(candidate); }
  /// Whether a candidate may have no time, because links break.
  bool may_fail() const;

  /// Whether the time of a phase follows from that of one AllReduce.
  bool adds_up() const { return workload_ && workload_->schedule.overlap == 0; }

  /// The whole phase of a workload, simulated; about as many times cost_s() as it has AllReduces where chips are
  /// not alike.
  double phase_s(std::size_t candidate) const;
  std::uint32_t allreduces() const { return workload_ ? workload_->allreduces : 1; }

  /// What will probably be asked next of a candidate: its bound; or its error, and its time if the error is below
  /// `nmse_below`.
  struct Question {
    std::size_t candidate = 0;
    bool of_bound = false;
    double nmse_below = 0.0;
  };
  /// Whether all of the answer is there.
  bool knows(const Question& question) const;
  /// How many questions keep those busy who help.
  std::size_t ahead() const { return kAhead * helpers_.threads(); }
  /// Questions that helpers are to answer meanwhile, first things first, in place of those before. Answers are
  /// what asking alone gives.
  void look_ahead(const std::vector<Question>& questions);

 private:
  const TuneScheme& scheme(std::size_t family) const {
    return space_.schemes[space_.families[family].scheme];
  }
  /// Questions for each helper: enough to last while this thread computes an error, which takes as long as ten bounds.
  static constexpr std::size_t kAhead = 12;

  void answer(const Question& question);
  bool wants_time(const Question& question) const;
  plan::OrObstacle<plan::Plan> plan(std::size_t candidate) const;
  double whole_s(double collective_s) const;
  plan::OrObstacle<double> find_bound_s(std::size_t candidate) const;
  Time simulate(std::size_t candidate) const;
  Finding compute(std::size_t family) const;

  std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
  const config::ExperimentConfig& config_;
  const TuneSpace& space_;
  std::uint64_t most_bytes_;
  values::TensorSource source_;
  std::optional<plan::WorkloadPlan> workload_;
  config::ExperimentConfig timed_;  ///< what is simulated of candidates: a phase, or one collective
  ErrorTheory theory_;
  std::vector<std::optional<ErrorPrediction>> predictions_;
  std::vector<bool> asked_;                   ///< by family: whether nmse() was
  Answers<Finding> nmse_;                     ///< by family
  Answers<plan::OrObstacle<double>> bounds_;  ///< by candidate
  Answers<Time> times_;                       ///< by candidate
  process::Helpers helpers_;                  ///< last: they end before what they work with
};

}  // namespace equarx::tune
