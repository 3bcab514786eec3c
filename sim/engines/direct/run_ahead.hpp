#pragma once

#include <cstdint>

#include "sim/engines/direct/record.hpp"

namespace equarx::sim {

/// Least number of messages that are worth another thread.
inline constexpr std::uint64_t kMessagesPerThread = 250'000;

/// Runs every chip with its own clock as far as possible, until it needs a message that is not sent
/// yet.
///
/// Exact if each link carries the messages of one pair of chips and no link fails: the arrival of a
/// message then depends only on its sender (its bytes and earlier messages). Not applicable if a
/// core is shared with other work, which continues while the program waits.
///
/// Chips are divided into one block of consecutive ranks for each of `threads` threads, fewer for few
/// messages and with a trace. As nothing else connects chips than the queues of their channels, each with
/// one sender and one receiver, the order in which they advance cannot change a time (G. Kahn, The
/// Semantics of a Simple Language for Parallel Programming, 1974).
void run_ahead(Record& record, unsigned threads);

/// Likewise, with as many blocks as requested: at most one for each chip.
void run_ahead_in_blocks(Record& record, unsigned blocks, unsigned threads);

}  // namespace equarx::sim
