// A collective's program as a chunk schedule.
#pragma once

#include "models/collectives/program.hpp"
#include "models/schedules/schedule.hpp"

namespace equarx::schedules {

/// Writes a program whose messages carry the tensor's own type for every rank: a thread block for each of its channels,
/// scratch for what is added later, and dependencies where thread blocks share chunks. GPU r is the program's rank r. In
/// place, but for an AllToAll. It is as right as verify() says: NCCL has its parts in the order of ranks, a program may have
/// them elsewhere.
/// @throws ScheduleError for a program that quantizes or casts, whose tensor is padded, or that cuts it so unevenly that it
/// has too many chunks
Schedule from_program(const collectives::Program& program);

}  // namespace equarx::schedules
