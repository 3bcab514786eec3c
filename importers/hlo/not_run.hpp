// Collectives that a program holds and does not run.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "importers/hlo/module.hpp"
#include "importers/hlo/scanner.hpp"

namespace equarx::hlo {

/// Computation and instruction.
using Place = std::pair<ComputationId, InstructionId>;

/// A collective that never runs.
struct NotRun {
  Place place;
  std::string reason;  ///< "in a branch of conditional 'c' that is not assumed to be taken"
};

/// Returns the collectives of all computations that ENTRY reaches, through any attribute that names
/// a computation, except those at the `places` that run. `reasons`: computations that were skipped,
/// and why; their callees inherit the reason.
std::vector<NotRun> collectives_not_run(const Module& module, const std::vector<Place>& places,
                                        const std::map<ComputationId, std::string>& reasons);

/// Adds one note for each reason, with the names of its collectives.
void add_notes(const Module& module, const std::vector<NotRun>& not_run, Skipped& notes);

}  // namespace equarx::hlo
