// Totals and executions of step lists.
#pragma once

#include <vector>

#include "importers/hlo/flow.hpp"

namespace equarx::hlo {

/// Totals over one execution of a flow.
struct FlowTotals {
  Cost cost;
  double collective_bytes = 0.0;  ///< sum of CollectiveOp::bytes
  std::vector<double> times;      ///< executions by collective
};
FlowTotals totals_of(const Flow& flow);

/// Totals over one execution of a list.
struct ListTotal {
  Cost cost;
  double collective_bytes = 0.0;
};

/// @param totals  of the lists that this one repeats
ListTotal total_of(const std::vector<FlowStep>& list, const Flow& flow,
                   const std::vector<ListTotal>& totals);

/// Removes the collectives that never run, and the steps of lists that never run.
void keep_what_runs(Flow& flow);

}  // namespace equarx::hlo
