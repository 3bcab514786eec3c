// Who wants to see more of a simulation than its times: a trace.
#pragma once

#include <span>

#include "experiments/plan/plan.hpp"
#include "sim/time_executor.hpp"

namespace equarx::run {

/// Who wants to know what happens in a simulation, event by event: a trace, for one.
class RunObserver {
 public:
  virtual ~RunObserver() = default;

  /// Whether it wants the events of this collective. A phase is then simulated with all its layers.
  virtual bool wants(const plan::CollectivePlan& plan) const = 0;

  /// Called before anything is simulated. @throws InputError if the events of those among `plans` that it
  /// wants would be too many.
  virtual void check_size(std::span<const plan::CollectivePlan* const> plans,
                          const sim::Schedule& schedule) const = 0;

  /// Takes the events of a collective that ran as `schedule` says.
  virtual void add(const plan::CollectivePlan& plan, const sim::Schedule& schedule,
                   const sim::TimeResult& time) = 0;

 protected:
  RunObserver() = default;
  RunObserver(const RunObserver&) = default;
  RunObserver& operator=(const RunObserver&) = default;
};

}  // namespace equarx::run
