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
#include "importers/hlo/not_run.hpp"
#include "importers/hlo/scanner.hpp"

namespace equarx::hlo {

/// Index into Flow::ops.
using OpId = std::uint32_t;
/// Index into Flow::lists.
using ListId = std::uint32_t;

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
  ListId body = 0;
};

/// A module as step lists that call each other.
struct Flow {
  std::vector<std::vector<FlowStep>> lists;  ///< empty if never run
  ListId entry = 0;
  /// Topological order of the lists: after the lists they repeat.
  std::vector<ListId> order;
  /// Collectives that run. One that several fusions or asynchronous instructions call has an entry
  /// for each.
  std::vector<CollectiveOp> ops;
  std::vector<NotRun> not_run;  ///< all other collectives of the module that ENTRY reaches
  Skipped notes;  ///< approximations, unsupported constructs and `not_run`, with counts
};

/// User-provided trip counts, for loops without a known one or to override it.
struct TripCounts {
  std::map<std::string, std::uint64_t> by_name;
  std::optional<std::uint64_t> otherwise;  ///< default for loops without a known count
};

/// Builds the step lists. A conditional runs the branch with the most collective bytes, then the
/// most FLOPs, then the most memory traffic. Loops without collectives become repeated work; a
/// condition runs only for its collectives. Bytes of an asynchronous copy overlap with the
/// instruction that follows it. A collective completes at its "-done", at the end of its computation
/// if it has none, and immediately if it is synchronous.
///
/// Every collective that ENTRY reaches is in `ops` or in `not_run`. Within a fusion, also a nested
/// one, collectives run one after the other before the work of the fusion. An asynchronous
/// instruction starts all collectives of its computations at once and waits for all at its "-done";
/// other work of these computations overlaps with the next instruction. A custom-call whose
/// computations hold collectives runs them as a call does.
/// @throws exceptions::UserError for a loop with unknown trip count, and for more than 100,000
/// collectives
Flow make_flow(const Module& module, const TripCounts& counts = {}, const CustomCalls& calls = {});

}  // namespace equarx::hlo
