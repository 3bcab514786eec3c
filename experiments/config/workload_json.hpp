// The "workload" of a configuration: a transformer's phase.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/input/object_reader.hpp"
#include "experiments/config/config.hpp"
#include "experiments/config/tensor_json.hpp"

namespace equarx::config {

/// Reads "workload". `chips`: the degree of tensor parallelism; `expert_chips`: chips that the experts
/// are divided over. @throws InputError, also for a phase that the model or the numbers of chips do
/// not allow.
WorkloadConfig read_workload(input::ObjectReader reader, std::uint32_t chips,
                             std::uint32_t expert_chips = 1);

/// The workload as configuration JSON, with all defaults filled in.
input::Json workload_json(const WorkloadConfig& workload);

/// Schema of "workload", with annotations.
input::Json workload_schema();

/// "prefill" or "decode".
std::string_view phase_name(const workloads::Phase& phase);

/// Positions summed by one AllReduce: the largest chunk.
std::uint64_t chunk_rows(const WorkloadConfig& workload);

/// Tensor size of one AllReduce, and a sample small enough to compute quickly.
ImposedSize tensor_size(const WorkloadConfig& workload);

}  // namespace equarx::config
