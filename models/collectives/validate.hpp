#pragma once

#include "models/collectives/program.hpp"

namespace equarx::collectives {

/// Checks what both executors rely on, so that a wrong program is found when it is built:
/// every message is sent once and then waited for once, later in the list (then no rank can wait
/// for something that is never sent, and ranks can be computed in lockstep); waits of a channel
/// come in the order of its sends; no buffer is read before it is made or has arrived, nor as
/// another tile than the one that it was made of; every element of the result is delivered once. A
/// program whose ranks run different parts of the list is run rank by rank, without a clock.
/// @throws std::logic_error naming the first instruction that breaks a rule.
void validate(const Program& program);

/// The part of validate() that is about casts: those of the tensor come before everything else, those of
/// the result after it, each for every element once, and for none if the program has no `cast_from`.
/// @throws std::logic_error naming the rule that is broken.
void validate_casts(const Program& program);

}  // namespace equarx::collectives
