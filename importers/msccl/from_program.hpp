// Conversion of collective programs to chunk schedules.
#pragma once

#include "importers/msccl/schedule.hpp"
#include "models/collectives/program.hpp"

namespace equarx::schedules {

/// Converts a program whose messages carry the tensor's own type. Each rank (GPU r is rank r) has
/// one thread block per channel, scratch for terms that are added later, and dependencies where
/// thread blocks share chunks. In place, except for an AllToAll. The caller should verify() the
/// result: NCCL orders shards by rank, while a program may place them differently.
/// @throws exceptions::UserError for a program that quantizes or casts, pads its tensor, or splits it so
/// unevenly that it needs too many chunks
Schedule from_program(const collectives::Program& program);

}  // namespace equarx::schedules
