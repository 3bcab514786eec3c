// Contents of a profile: recorded collectives and the other work of its devices.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "importers/common/device_axes.hpp"
#include "models/collectives/program.hpp"
#include "models/formats/block_format.hpp"

namespace equarx::profile {

/// A time interval of a device, in seconds of the clock of its profile.
struct Span {
  double start_s = 0.0;
  double duration_s = 0.0;  ///< above 0

  double end_s() const { return start_s + duration_s; }
};

/// A collective that is executed any number of times.
struct Call {
  std::string name;      ///< of the profile: "allreduce", "all-reduce.3"
  std::string sequence;  ///< process group or program whose calls are ordered; may be empty
  std::string kind;      ///< "all-reduce"; `name` for unsupported kinds
  std::string type;      ///< element type in the notation of the profile: "BFloat16"
  double bytes = 0.0;    ///< input per chip; result per chip for an all-gather
  /// Absent if not simulated.
  std::optional<collectives::Collective> collective = std::nullopt;
  numerics::ElementFormat format = numerics::ElementFormat::bf16;  ///< of the same size as `type`
  /// Floating-point elements of 16 bits or more that are summed or gathered.
  bool can_quantize = false;
  std::uint32_t chips = 0;  ///< per group; 0: unknown
  /// Chips of each group, ascending; a single group of the recorded rank if the profile has no
  /// others. Empty: unknown.
  imports::DeviceGroups groups = {};
  std::string obstacle = {};       ///< why it is not simulated; empty if it is
  bool has_assumed_ranks = false;  ///< a truncated list of ranks, completed by its stride
  bool is_uneven = false;          ///< an all-to-all of different sizes per rank

  bool operator==(const Call&) const = default;
};

/// One execution of a call on one device.
struct Execution {
  std::uint32_t call = 0;    ///< index into Profile::calls
  std::uint32_t device = 0;  ///< index into Profile::devices
  Span span;
};

/// A recorded device.
struct Device {
  std::string name;  ///< "rank 0", "/device:TPU:0"
  std::vector<Span> communication = {};
  std::vector<Span> other = {};  ///< kernels and operations that are no collectives
};

/// Why parts of a profile are not used, with counts.
using Notes = std::map<std::string, std::uint64_t>;

/// A profile, or several of the same run.
struct Profile {
  std::string chip = {};         ///< name of the recorded chip; may be empty
  std::uint32_t chips = 0;       ///< of the run; 0 if unknown
  std::vector<Call> calls = {};  ///< all different
  std::vector<Execution> executions = {};
  std::vector<Device> devices = {};
  Notes notes = {};
};

/// Index of `call` in the profile, which adds it if absent.
std::uint32_t call_id(Profile& profile, const Call& call);

/// Adds the profile of another rank of the same run.
/// @throws input::InputError if both are of the same device, or of runs of different sizes
void merge(Profile& into, const Profile& from);

}  // namespace equarx::profile
