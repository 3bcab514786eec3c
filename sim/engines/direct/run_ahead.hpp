#pragma once

#include "sim/engines/direct/record.hpp"

namespace equarx::sim {

/// Runs every chip with its own clock as far as possible, until it needs a message that is not sent
/// yet.
///
/// Exact if each link carries the messages of one pair of chips and no link fails: the arrival of a
/// message then depends only on its sender (its bytes and earlier messages). Not applicable if a
/// core is shared with other work, which continues while the program waits.
void run_ahead(Record& record);

}  // namespace equarx::sim
