// Instructions on every part of the tensor.
#pragma once

#include <vector>

#include "models/collectives/program.hpp"

namespace equarx::collectives {

/// Returns one instruction per microshard of the tensor, or of a rank's own shard.
std::vector<Instruction> on_all_tiles(const Program& program, Op op, bool own_only,
                                      RankRange ranks = {});

}  // namespace equarx::collectives
