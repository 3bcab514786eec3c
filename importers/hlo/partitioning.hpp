// Programs before and after partitioning.
#pragma once

#include "importers/hlo/module.hpp"

namespace equarx::hlo {

/// Checks that a program for several chips is divided among them. Before XLA's SPMD partitioner it
/// describes the work of all chips together, without their collectives; it is not scheduled, and has
/// custom-calls such as "Sharding", instructions with a tiled sharding, or tiled parameters without
/// any collective or fusion. Afterwards only parameters, results and copies of them keep shardings
/// (xla/service/spmd/spmd_partitioner.h).
/// @throws exceptions::UserError before partitioning, with the remedy
void check_partitioned(const Module& module);

}  // namespace equarx::hlo
