#pragma once

#include "sim/direct/record.hpp"

namespace equarx::sim {

/// Runs the program event by event, in the order of time: with links that pairs of chips share or that
/// fail, and with cores that do other work besides.
/// @return false if nothing can happen any more and some chips are not done: a deadlock
bool run_in_order(Record& record);

}  // namespace equarx::sim
