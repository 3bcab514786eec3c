// A format on the messages of a schedule of MSCCL: an extension, which no runtime has.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "experiments/imports/msccl.hpp"
#include "models/formats/block_format.hpp"
#include "models/numerics/errors/metrics.hpp"
#include "models/schedules/runtime.hpp"

namespace equarx::imports {

/// A format by its name. @throws input::InputError that names --format, for a name that is none, and a format whose codes
/// need what a schedule does not have: a scale of all ranks, or random bits
numerics::BlockFormat read_message_format(const std::string& name);

/// Bytes of so many bytes of FP32 in the format, with their scales: what is sent at once has scales of its own.
std::uint64_t encoded_bytes(const numerics::BlockFormat& format, std::uint64_t bytes);

/// How far the result is off when messages are encoded.
struct MscclError {
  numerics::ErrorMetrics metrics;  ///< of all ranks' results, against the exact ones
  bool ranks_identical = true;     ///< of an AllReduce, AllGather or Broadcast
  std::size_t elements = 0;        ///< of each chunk that were computed
};

/// Carries a schedule out on normal values, and encodes every slice of a message by itself; what is sent on as it came
/// (rcs) is not encoded again, and what a rank has of its own never is.
/// @throws input::InputError for a custom schedule, whose exact result nobody knows
MscclError error_of(const MscclSchedule& made, const schedules::Runtime& runtime,
                    const numerics::BlockFormat& format);

}  // namespace equarx::imports
