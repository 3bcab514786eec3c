// Time of an MSCCL schedule on a machine.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "importers/msccl/msccl.hpp"
#include "importers/msccl/msccl_format.hpp"
#include "importers/msccl/runtime.hpp"

namespace equarx::imports {

/// Machine and message size.
struct MscclOptions {
  std::string hardware = "mi300x";  ///< value of the configuration key
  std::string topology = {};        ///< see topology_json(); rank r is the r-th chip
  std::uint64_t bytes = 0;          ///< size of the whole buffer, as in nccl-tests
  std::uint64_t buffer = schedules::kSimpleBuffer;  ///< size of a queue of the Simple protocol
  std::string format = {};  ///< message format, an extension; empty: plain FP32
};

/// Result of a simulation.
struct MscclTime {
  std::uint64_t bytes = 0;
  std::uint64_t loops = 0;  ///< times the runtime executes the schedule
  double time_s = 0.0;
  double lower_bound_s = 0.0;            ///< bytes / rate of the slowest link
  double algorithm_bandwidth = 0.0;      ///< B/s: bytes / time
  double bus_bandwidth = 0.0;            ///< B/s, as defined by nccl-tests; 0 for custom schedules
  std::uint64_t busiest_link_bytes = 0;  ///< on the slowest link, including flags
  std::string busiest_link = {};
  bool calibrated = false;                            ///< the chip model was fitted to measurements
  std::string format = {};                            ///< message format; empty: FP32
  std::optional<MscclAccuracy> error = std::nullopt;  ///< error of that format
  std::vector<std::string> notes = {};  ///< defaults assumed for unspecified chip parameters
};

/// Simulates a schedule.
/// @throws input::InputError if the machine does not fit, if bytes do not divide, or if full queues
/// cause a deadlock
MscclTime time_msccl(const MscclSchedule& checked, const MscclOptions& options);

}  // namespace equarx::imports
