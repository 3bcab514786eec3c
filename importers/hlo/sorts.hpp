// Comparisons of sorts and top-k selections in HLO.
#pragma once

#include "importers/hlo/module.hpp"

namespace equarx::hlo {

/// True for opcodes sort and topk, and custom-calls of CUB's sorts and of TopK ("TopK",
/// "__gpu$TopK").
bool sorts(const Instruction& instruction);

/// Comparisons: n log2 n for each row of n along the sorted axis, which is the last unless
/// "dimensions" names another; n log2 k for the k largest, as of a heap of k.
double comparisons(const Instruction& instruction, const Computation& computation);

}  // namespace equarx::hlo
