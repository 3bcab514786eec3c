// Machines of a replica, and the configuration of a candidate.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/input/json_value.hpp"
#include "experiments/capacity/request.hpp"
#include "experiments/config/serving.hpp"

namespace equarx::capacity {

/// Chips of one replica.
struct Machine {
  std::string chip;           ///< name
  input::JsonValue topology;  ///< as in a configuration
  std::uint32_t chips = 1;
  double dollars_per_hour = 0.0;  ///< price of a chip; 0: unknown
  bool calibrated = false;        ///< see hardware::Chip::is_calibrated()
};

/// The slices that a chip is offered in with the requested numbers of chips, the most compact shape
/// of each; for chips without slices a switch or full connection of up to 8.
/// Prices are from hardware files. @throws input::InputError at --chips for an unknown chip
std::vector<Machine> machines_of(const std::string& chip, const std::vector<std::uint32_t>& sizes);

/// Configuration of a candidate at a rate, as JSON. `tokens`: positions per step; `sequences`:
/// limit of running sequences.
input::JsonValue configuration(const Request& request, const Machine& machine,
                               const Formats& formats, std::uint64_t tokens,
                               std::uint32_t sequences, double requests_per_s);

}  // namespace equarx::capacity
