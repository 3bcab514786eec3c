// Quantized messages in MSCCL schedules: an extension that no runtime implements.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "importers/msccl/msccl.hpp"
#include "importers/msccl/runtime.hpp"
#include "models/formats/block_format.hpp"
#include "models/numerics/errors/metrics.hpp"

namespace equarx::imports {

/// Returns the format called `name`.
/// @throws input::InputError that names --format, for an unknown format, and for one that needs a
/// scale shared by all ranks or random bits, which schedules do not support
numerics::BlockFormat read_message_format(const std::string& name);

/// Encoded size, including scales, of `bytes` of FP32. Data sent together has its own scales.
std::uint64_t encoded_bytes(const numerics::BlockFormat& format, std::uint64_t bytes);

/// Error of the result with encoded messages.
struct MscclAccuracy {
  numerics::ErrorMetrics metrics;  ///< results of all ranks, against the exact ones
  bool ranks_identical = true;     ///< for AllReduce, AllGather and Broadcast
  std::size_t elements = 0;        ///< computed elements per chunk
};

/// Runs a schedule on normally distributed values and encodes every slice of a message separately.
/// Forwarded data (rcs) is not encoded again, and data local to a rank never is.
/// @throws input::InputError for a custom schedule, whose exact result is unknown
MscclAccuracy error_of(const MscclSchedule& made, const schedules::Runtime& runtime,
                       const numerics::BlockFormat& format);

}  // namespace equarx::imports
