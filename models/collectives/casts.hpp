// Collectives whose input is cast first and whose result is cast back.
#pragma once

#include "models/collectives/program.hpp"

namespace equarx::collectives {

/// Returns `program` for ranks whose tensors have the type `from`: every rank first casts its input
/// to the program's type, and finally casts its result back. Hence a chip sends nothing before it
/// has cast everything. `casts`: whether that takes time in the program.
///
/// If the program's format has a shared scale, the ranks compute it first: the amax of each tensor
/// in a pass of its own, and then the maximum over all ranks (amax_exchange.hpp). The cast uses
/// this scale.
///
/// `rotated`: casts also rotate, so that the program works on rotated values (Program::rotated).
/// @throws std::logic_error if the program already has casts or is invalid (validate())
Program with_casts(Program program, numerics::ElementFormat from, bool rotated = false,
                   Casts casts = Casts::separate);

}  // namespace equarx::collectives
