// Which ranks' inputs the result of a program contains.
#pragma once

#include "models/collectives/program.hpp"

namespace equarx::collectives {

/// Largest number of buffers read by all ranks that check_contributions() follows; larger programs
/// are accepted unseen.
inline constexpr double kMostFollowed = 3e7;

/// Follows the inputs of all ranks through the program, without values: the result of an AllReduce,
/// and the own shard of a ReduceScatter, must contain every rank's input once, an AllGather every
/// shard from its owner, an AllToAll the own shard of every rank that sends it. Requires a program
/// that passes validate(). Broadcasts and NeighborAverages are accepted unseen.
/// @throws InvalidProgram for a buffer that is read before its writer, in the order of the program,
/// has written it, and for a result that lacks an input or contains one twice
void check_contributions(const Program& program);

}  // namespace equarx::collectives
