// From a step that a user asks for to what the time executor runs.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "experiments/config/step.hpp"
#include "experiments/plan/plan.hpp"
#include "models/steps/permute_program.hpp"
#include "models/workloads/roofline.hpp"
#include "sim/machine.hpp"
#include "sim/side_by_side.hpp"

namespace equarx::step {

/// A collective of a step, as each of its groups does it by itself.
struct PlannedCall {
  plan::CollectivePlan plan;
  double alone_s = 0.0;  ///< how long it takes where nothing else goes on
  double core_s = 0.0;   ///< of core time that it takes of a chip, of the busiest
};

/// A permute of a step.
struct PlannedPermute {
  steps::PermuteProgram permute;
  sim::Costs costs;
  double alone_s = 0.0;  ///< how long it takes where nothing else goes on
};

/// What a program of a variant is.
struct ProgramUse {
  std::optional<std::size_t> call;  ///< of the configuration; none of a permute
  std::size_t permute = 0;          ///< of the configuration
};

/// A step with its collectives carried out in one way.
struct VariantPlan {
  std::vector<std::shared_ptr<const PlannedCall>> calls;        ///< by call of the configuration
  std::vector<std::shared_ptr<const PlannedPermute>> permutes;  ///< by permute of the configuration
  sim::SideBySide work;          ///< its programs are those of `calls` and `permutes`
  std::vector<ProgramUse> uses;  ///< by program
  sim::Machine machine;
  bool symmetric = false;  ///< a few chips stand for all of them
  std::string reason;      ///< for people: why
};

/// What is simulated, and how long tasks take at least.
struct StepPlan {
  config::StepConfig config;
  std::vector<double> core_s;  ///< by task, of the core; 0 of collectives and transfers
  std::vector<std::shared_ptr<const PlannedPermute>> permutes;  ///< by permute of the configuration
  std::vector<VariantPlan> variants;
};

/// Plans variants of one step; what they have in common once.
class Planner {
 public:
  using CallOrNot = plan::OrObstacle<std::shared_ptr<const PlannedCall>>;

  /// @throws input::InputError for what cannot be had: memory, products that the chip does not have
  explicit Planner(const config::StepConfig& config);
  Planner(const Planner&) = delete;
  Planner& operator=(const Planner&) = delete;

  /// The step without any variant.
  const StepPlan& step() const { return step_; }

  /// A collective of the step by itself; why not, if it cannot be carried out so. `call`: of the configuration
  const CallOrNot& call(std::size_t call, const config::CollectiveConfig& collective);

  /// @throws input::InputError for what cannot be had
  VariantPlan variant(const config::StepVariant& variant);

 private:
  StepPlan step_;
  workloads::ComputeRates rates_;           ///< of its chip
  std::map<std::string, CallOrNot> calls_;  ///< by call and how it is carried out
};

/// The step with all its variants. @throws input::InputError for what cannot be had: memory, products that the chip
/// does not have, algorithms
StepPlan make_plan(const config::StepConfig& config);

}  // namespace equarx::step
