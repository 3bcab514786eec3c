// The worked example of docs/add_an_algorithm.md.
#pragma once

#include "models/collectives/algorithm.hpp"

namespace equarx::collectives {

/// AllReduce on a ring, the simplest possible: every tensor goes once round, and every rank sums
/// all.
/// @throws std::invalid_argument if the tensor has too few elements for its parts.
Program make_pass_around(const ProgramRequest& request);

/// Its row of the table.
extern const AlgorithmInfo kPassAround;

}  // namespace equarx::collectives
