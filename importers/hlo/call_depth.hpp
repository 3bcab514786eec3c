// Depth of calls between computations.
#pragma once

#include "importers/hlo/module.hpp"

namespace equarx::hlo {

/// HLO has no recursion: a computation that calls itself, directly or indirectly, would never end.
/// @throws exceptions::UserError for such a module, and if calls are nested more than 256 deep
void check_calls(const Module& module);

}  // namespace equarx::hlo
