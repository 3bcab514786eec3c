// What a transformer is asked to do, in a configuration.
#pragma once

#include <cstdint>
#include <string_view>

#include "experiments/config/config.hpp"
#include "experiments/config/tensor_json.hpp"
#include "experiments/input/object_reader.hpp"

namespace equarx::config {

/// Reads "workload". `chips`: the degree of tensor parallelism, all chips of the topology.
/// @throws InputError, also for a phase that the model or so many chips cannot do.
WorkloadConfig read_workload(input::ObjectReader reader, std::uint32_t chips);

/// A workload as a configuration has it, with every default filled in.
input::Json workload_json(const WorkloadConfig& workload);

/// "prefill" or "decode".
std::string_view phase_name(const workloads::Phase& phase);

/// Positions that one AllReduce sums: those of a chunk, the largest if they differ.
std::uint64_t chunk_rows(const WorkloadConfig& workload);

/// The size of the tensor that one AllReduce sums, and a sample that keeps its values quick to compute.
ImposedSize tensor_size(const WorkloadConfig& workload);

}  // namespace equarx::config
