// Times of one program on symmetric machines with different parameters.
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>

#include "experiments/config/config.hpp"
#include "experiments/plan/costs.hpp"
#include "models/collectives/program.hpp"
#include "sim/machine.hpp"
#include "sim/recosted_timelines.hpp"

namespace equarx::plan {

/// A program on representative chips with dedicated links, to be timed with the parameters of many
/// chips by the direct engine: whatever does not depend on them is made once. For many threads.
class SymmetricTiming {
 public:
  /// Precondition: can_be_timed()
  explicit SymmetricTiming(const collectives::Program& program);

  /// True if all ranks of a program do the same, in one stream.
  static bool can_be_timed(const collectives::Program& program);
  /// True if time_s() is the time on representative chips of a configuration: with wire buffers in
  /// VMEM, and without switch and workgroups.
  static bool supports(const config::ExperimentConfig& config);

  /// The simulated time in s. `startup_s`: core time before the collective.
  double time_s(const hardware::Chip& chip, double startup_s = 0.0) const;

  /// Memory of the object.
  std::uint64_t bytes() const;

 private:
  /// Changed by each simulation.
  struct Model {
    sim::Timelines timelines;
    sim::Machine machine;
  };

  SymmetricTiming(const collectives::Program& program, sim::Machine machine);
  Model take_model() const;
  void put_back(Model&& model) const;

  CostKinds kinds_;
  sim::Machine machine_;  ///< without rates and latencies
  sim::RecostedTimelines timelines_;
  mutable std::mutex mutex_;
  mutable std::optional<Model> spare_;  ///< for the next simulation
};

}  // namespace equarx::plan
