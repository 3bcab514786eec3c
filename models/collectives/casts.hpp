// A collective of a tensor that is cast first, and whose result is cast back.
#pragma once

#include "models/collectives/program.hpp"

namespace equarx::collectives {

/// `program` for ranks whose tensors are of the type `from`: every rank casts what it brings to the
/// program's type before all else, and its result back after all else, as operations of their own. So a
/// chip does not send before it has cast everything.
///
/// Where the program's format has a scale that all ranks share, they find it first: each the amax of its tensor, in a
/// pass of its own, and then that of all (amax_exchange.hpp). The cast is by this scale.
///
/// `rotated`: casts also rotate, so that the program works on rotated values (Program::rotated).
/// @throws std::logic_error if the program has casts, or the wrong ones (validate()).
Program with_casts(Program program, numerics::ElementFormat from, bool rotated = false);

}  // namespace equarx::collectives
