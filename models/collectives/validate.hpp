#pragma once

#include "models/collectives/program.hpp"

namespace equarx::collectives {

/// Checks the invariants that both executors rely on, so that an invalid program is detected when
/// it is built: every message is sent once and then waited for once, later in the instruction
/// stream (so no rank waits for a message that is never sent, and ranks can be computed in
/// lockstep); waits of a channel come in the order of its sends; no buffer is read before it is
/// written or received, nor as a tile other than its own; every element of the result is delivered
/// once. Programs whose ranks execute different instructions are run rank by rank, without timing.
/// @throws std::logic_error naming the first instruction that violates an invariant
void validate(const Program& program);

/// The part of validate() for casts: casts of the inputs precede everything else, casts of the
/// result follow it, each covering every element once; no casts without `cast_from`.
/// @throws std::logic_error naming the violated invariant
void validate_casts(const Program& program);

}  // namespace equarx::collectives
