// Costs of a program whose chips are GPUs that run it in workgroups.
#pragma once

#include "models/collectives/program.hpp"
#include "models/hardware/workgroups.hpp"
#include "sim/timeline.hpp"

namespace equarx::plan {

/// Replaces the costs of all instructions that write, encode, read or decode wire bytes, and of
/// waits for payloads. Core time: the bytes, at the rate that all compute units share; reads of
/// scales are not counted. Least time: the passes of a workgroup over its part of a tile, at one
/// encoding or decoding of the whole tile per `tile_codec_time`, and `peer_read_time` for each wait.
/// Own bytes that are sent to several ranks are encoded and written once for each, as in QuickReduce
/// (csrc/core/allreduce.h, "Phase-2"). `rank`: for programs with counts.
void run_in_workgroups(const collectives::Program& program, const hardware::Chip& chip,
                       const hardware::Workgroups& workgroups, collectives::Rank rank,
                       sim::Costs& costs);

}  // namespace equarx::plan
