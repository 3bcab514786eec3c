#pragma once

#include "sim/direct/record.hpp"

namespace equarx::sim {

/// Runs every chip as far as it comes with a clock of its own, until it needs a message that is not sent.
///
/// That gives the right times where each link carries the messages of one pair of chips, and none fails:
/// then a message's arrival depends on its sender alone (its bytes, and what that sent before). Where
/// a core is shared with other work it does not hold, because that goes on while the program waits.
void run_ahead(Record& record);

}  // namespace equarx::sim
