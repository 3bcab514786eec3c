// AllToAlls whose pairs of ranks exchange different numbers of rows.
#pragma once

#include "models/collectives/program.hpp"

namespace equarx::collectives {

/// Returns the program of an AllToAll with counts: its shards have room for the most rows of a pair.
/// @throws std::invalid_argument if it is not an AllToAll on whole tiles without casts, or if the
/// counts do not match its ranks or exceed its shards
Program with_counts(Program program, RowCounts counts);

}  // namespace equarx::collectives
