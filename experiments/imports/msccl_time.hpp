// How long a schedule of MSCCL takes on a machine.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "experiments/imports/msccl.hpp"
#include "experiments/imports/msccl_format.hpp"
#include "models/schedules/runtime.hpp"

namespace equarx::imports {

/// On what, and with how much.
struct MscclOptions {
  std::string hardware = "mi300x";  ///< as the key of a configuration
  std::string topology = {};        ///< see topology_json(); rank r is its r-th chip
  std::uint64_t bytes = 0;          ///< of the whole buffer, as nccl-tests counts
  std::uint64_t buffer = schedules::kSimpleBuffer;  ///< of a queue of the Simple protocol
  std::string format = {};  ///< of messages, an extension; empty: FP32, as they are
};

/// What a run takes.
struct MscclTime {
  std::uint64_t bytes = 0;
  std::uint64_t loops = 0;  ///< in which the runtime goes through the schedule
  double time_s = 0.0;
  double lower_bound_s = 0.0;            ///< bytes / rate of the link that needs longest
  double algorithm_bandwidth = 0.0;      ///< B/s: bytes / time
  double bus_bandwidth = 0.0;            ///< B/s, as nccl-tests defines it; 0 of custom schedules
  std::uint64_t busiest_link_bytes = 0;  ///< of the link that needs longest, with flags
  std::string busiest_link = {};
  bool calibrated = false;                         ///< measurements of such chips were fitted
  std::string format = {};                         ///< of messages; empty: FP32
  std::optional<MscclError> error = std::nullopt;  ///< of that format
  std::vector<std::string> notes = {};             ///< what was taken instead of what nobody says
};

/// Times a schedule. @throws input::InputError for a machine that does not fit, bytes that do not divide, and where queues
/// run full so that it would hang
MscclTime time_msccl(const MscclSchedule& made, const MscclOptions& options);

}  // namespace equarx::imports
