// Plans of steps: input of the time executor.
#pragma once

#include <list>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "experiments/config/machine_parameters.hpp"
#include "experiments/config/step.hpp"
#include "experiments/plan/plan.hpp"
#include "experiments/run/results.hpp"
#include "models/steps/permute_program.hpp"
#include "models/workloads/roofline.hpp"
#include "sim/classes.hpp"
#include "sim/machine.hpp"
#include "sim/step_program.hpp"

namespace equarx::step {

/// Plan of a collective of a step, as run by each of its groups.
struct PlannedCall {
  plan::CollectivePlan plan;
  double isolated_s = 0.0;  ///< time in isolation
  double core_s = 0.0;      ///< core time on the busiest chip
  /// Report of the isolated run; links and bounds of one group.
  std::shared_ptr<const run::RunResult> isolated = {};
};

/// Plan of a permute of a step.
struct PlannedPermute {
  steps::PermuteProgram permute;
  sim::Costs costs;
  double isolated_s = 0.0;  ///< time in isolation
};

/// Origin of a program of a variant.
struct ProgramUse {
  std::optional<std::size_t> call;  ///< call of the configuration; std::nullopt for a permute
  std::size_t permute = 0;          ///< of the configuration
};

/// Classes of the chips of a machine, one chip of each simulated, in their order.
struct SimulatedClasses {
  sim::ChipClasses chips;
  std::vector<std::uint64_t> link_weights;  ///< as in sim::ClassMachine
};

/// A step with one choice of collective implementations.
struct VariantPlan {
  std::vector<std::shared_ptr<const PlannedCall>> calls;        ///< by call of the configuration
  std::vector<std::shared_ptr<const PlannedPermute>> permutes;  ///< by permute of the configuration
  sim::StepProgram work;         ///< programs of `calls` and `permutes`
  std::vector<ProgramUse> uses;  ///< by program
  sim::Machine machine;
  /// For the direct engine; null if all chips of `machine` are simulated.
  std::shared_ptr<const sim::MachineByClass> by_class = nullptr;
  bool symmetric = false;                        ///< only representative chips are simulated
  std::string reason;                            ///< why, for reports
  std::optional<SimulatedClasses> classes = {};  ///< if one chip of each represents the others
  config::StepKind kind = {};                    ///< steps that it stands for
  std::vector<VariantPlan> others = {};          ///< plans of the other kinds of step
};

/// Plan of a step and its variants.
struct StepPlan {
  config::StepConfig config;
  std::vector<double> core_s;  ///< core time by task; 0 for collectives and transfers
  std::vector<std::shared_ptr<const PlannedPermute>> permutes;  ///< by permute of the configuration
  std::vector<VariantPlan> variants;
};

/// Times of a collective of a step in isolation.
struct CallTimes {
  double isolated_s = 0.0;
  double core_s = 0.0;  ///< core time on the busiest chip
};

/// An implementation of a collective of a step.
struct CallRequest {
  std::size_t call = 0;  ///< of the configuration
  config::CollectiveConfig collective;
};

/// Plans variants of one step, sharing common parts. Plans of collectives that no variant holds are
/// kept up to a limit of memory, and made again when asked for; their times are always kept.
class Planner {
 public:
  using ExpectedCall = plan::Expected<std::shared_ptr<const PlannedCall>>;
  using ExpectedTimes = plan::Expected<CallTimes>;

  /// @throws input::InputError if memory is insufficient or an operand type is unsupported
  explicit Planner(config::StepConfig of);
  Planner(const Planner&) = delete;
  Planner& operator=(const Planner&) = delete;

  /// The step without variants.
  const StepPlan& step() const { return step_; }
  /// Likewise; the planner is of no further use.
  StepPlan finish() && { return std::move(step_); }

  /// Plans a collective of the step in isolation; infeasible if its implementation is.
  ExpectedCall call(const CallRequest& request);

  /// The times of a collective of the step; infeasible if its implementation is.
  ExpectedTimes times(const CallRequest& request);

  /// Finds the times of several collectives on up to `threads` threads, for times().
  void prepare_times(std::span<const CallRequest> requests, unsigned threads);

  /// @throws input::InputError if a collective is infeasible
  VariantPlan variant(const config::StepVariant& variant);

 private:
  /// A planned collective, as long as something holds its plan.
  struct Known {
    ExpectedTimes times;
    std::weak_ptr<const PlannedCall> plan;
  };

  VariantPlan kind(const config::StepVariant& variant, const config::StepKind& kind);
  std::string key_of(const CallRequest& request) const;
  ExpectedCall make(const CallRequest& request) const;
  void note(const std::string& key, const ExpectedCall& made);
  void keep(std::shared_ptr<const PlannedCall> plan);

  StepPlan step_;
  workloads::ComputeRates rates_;                       ///< rates of its chip
  std::map<std::string, Known> known_;                  ///< by call and implementation
  std::list<std::shared_ptr<const PlannedCall>> kept_;  ///< latest use first
};

/// Returns the same variants, with the algorithms and tilings already chosen, on a machine with other
/// parameters. Isolated times are those of `plan`. @throws input::InputError if the machine cannot
/// run them
StepPlan on_machine(const StepPlan& plan, const config::MachineParameters& machine);

/// Plans a step with all its variants. @throws input::InputError if memory is insufficient or an
/// operand type or algorithm is unsupported
StepPlan make_plan(config::StepConfig config);

}  // namespace equarx::step
