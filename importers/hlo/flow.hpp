// Execution order of a module on one chip: work, start and end of collectives, loops.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "importers/hlo/collectives.hpp"
#include "importers/hlo/cost.hpp"
#include "importers/hlo/module.hpp"
#include "importers/hlo/scanner.hpp"

namespace equarx::hlo {

/// Index into Flow::ops.
using OpId = std::uint32_t;

/// Entry of a step list.
struct FlowStep {
  enum class Kind : std::uint8_t {
    work,    ///< `cost`, run `times` times
    begin,   ///< the collective `op` begins
    end,     ///< the collective `op` must have completed
    repeat,  ///< step list `body`, run `times` times
  };
  Kind kind = Kind::work;
  Cost cost{};
  std::uint64_t times = 1;
  OpId op = 0;
  ComputationId body = 0;
};

/// A module as step lists that call each other.
struct Flow {
  /// By computation; empty for computations that never run on their own.
  std::vector<std::vector<FlowStep>> lists;
  ComputationId entry = 0;
  /// Topological order of the lists: after the lists they repeat.
  std::vector<ComputationId> order;
  std::vector<CollectiveOp> ops;
  Skipped notes;  ///< approximations and unsupported constructs, with counts
};

/// User-provided trip counts, for loops without a known one or to override it.
struct TripCounts {
  std::map<std::string, std::uint64_t> by_name;
  std::optional<std::uint64_t> otherwise;  ///< default for loops without a known count
};

/// Builds the step lists. A conditional runs the branch with the most collective bytes, then the
/// most FLOPs, then the most memory traffic. Loops without collectives become repeated work. Bytes
/// of an asynchronous copy overlap with the instruction that follows it. A collective completes at
/// its "-done", at the end of its computation if it has none, and immediately if it is synchronous.
/// Within a fusion it runs before the work of the fusion.
/// @throws exceptions::UserError for a loop with unknown trip count
Flow make_flow(const Module& module, const TripCounts& counts = {});

/// Totals over one execution of a flow.
struct FlowTotals {
  Cost cost;
  double collective_bytes = 0.0;  ///< sum of CollectiveOp::bytes
  std::vector<double> times;      ///< executions by collective
};
FlowTotals totals_of(const Flow& flow);

}  // namespace equarx::hlo
