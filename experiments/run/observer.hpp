// Interface for receiving the events of a simulation.
#pragma once

#include <span>

#include "experiments/plan/plan.hpp"
#include "sim/time_executor.hpp"

namespace equarx::run {

/// Receives the events of simulations, for example to write a trace.
class RunObserver {
 public:
  virtual ~RunObserver() = default;

  /// True if the events of this collective are needed.
  virtual bool selects(const plan::CollectivePlan& plan) const = 0;

  /// Called before anything is simulated. @throws InputError if the selected collectives among
  /// `plans` would produce too many events.
  virtual void check_size(std::span<const plan::CollectivePlan* const> plans) const = 0;

  /// Receives the events of a collective.
  virtual void add(const plan::CollectivePlan& plan, const sim::TimeResult& time) = 0;

 protected:
  RunObserver() = default;
  RunObserver(const RunObserver&) = default;
  RunObserver& operator=(const RunObserver&) = default;
};

}  // namespace equarx::run
