// One tiling of a collective on symmetric machines with different parameters.
#pragma once

#include <cstdint>
#include <memory>

#include "experiments/config/config.hpp"
#include "experiments/plan/costs.hpp"
#include "models/collectives/algorithm.hpp"
#include "models/collectives/program.hpp"
#include "sim/machine.hpp"
#include "sim/recosted_timelines.hpp"

namespace equarx::plan {

/// A program on representative chips with dedicated links, to be timed with the parameters of many
/// chips: whatever does not depend on them is made once.
class CutTrial {
 public:
  /// @throws std::logic_error if ranks of the program differ, or have several streams
  explicit CutTrial(const collectives::Program& program);

  /// The simulated time in s on chips without workgroups, with wire buffers in VMEM.
  double time_s(const hardware::Chip& chip) const;

  /// Memory of the object.
  std::uint64_t bytes() const;

 private:
  CutTrial(const collectives::Program& program, sim::Machine machine);

  CostKinds kinds_;
  sim::Machine machine_;  ///< without rates and latencies
  sim::RecostedTimelines timelines_;
};

/// True if CutTrial gives the time of the collective on representative chips of `config`.
bool has_cut_trials(config::Algorithm algorithm, const collectives::ProgramRequest& request,
                    const config::ExperimentConfig& config);

/// The trial of a program, kept for further points and candidates of this process; null if its ranks
/// differ. Precondition: has_cut_trials(). @throws std::invalid_argument like AlgorithmInfo::make
std::shared_ptr<const CutTrial> cut_trial(config::Algorithm algorithm,
                                          const collectives::ProgramRequest& request);

}  // namespace equarx::plan
