#pragma once

#include "sim/engines/direct/record.hpp"

namespace equarx::sim {

/// Discrete-event simulation in time order. Supports shared and failing links, and cores shared by
/// several streams. Returns false on a deadlock: no event is pending but some chips are not done.
bool run_in_order(Record& record);

}  // namespace equarx::sim
