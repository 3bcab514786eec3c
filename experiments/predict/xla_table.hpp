// Predictions as the table of collectives that XLA's GPU cost model reads.
#pragma once

#include <string>

#include "experiments/predict/table.hpp"

namespace equarx::predict {

/// Text of the message xla.gpu.DeviceHloInstructionProfiles, for the XLA flag
/// --xla_gpu_experimental_collective_perf_table_path. Fields (commit numbers of openxla/xla):
/// - entries.key: name of the device (hlo_op_profiles.cc, 08bcbeca)
/// - instruction.opcode, .shape, .use_global_device_ids, .channel_id and
///   .iota_collective_device_list, from which XLA rebuilds the instruction, and its size, type and
///   groups (collective_interpolator.cc, 3e1a45f9; hlo.proto, bfbc776e)
/// - network_throughput_bytes_per_sec: the larger of input and output of a device / time; XLA
///   divides the bytes of an instruction by the throughput of the entry with the nearest size
///   (collective_perf_table_gen.cc, 040b3849)
/// Groups divide the devices of the machine. Rows whose tensor does not divide into shards are left
/// out.
/// @param device  key of the device; empty: by the table's chip
/// @throws input::InputError for collectives that XLA's table lacks, chips without a key, several
///         rows with one key, and tables without a row
std::string to_xla_table(const Table& table, const std::string& device);

}  // namespace equarx::predict
