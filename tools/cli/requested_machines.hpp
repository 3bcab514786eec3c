// Machines that a command runs one configuration on, in place of the configured one.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tools/cli/commands.hpp"

namespace equarx::cli {

/// A machine, as named by the user, and the configuration with it.
struct RequestedMachine {
  std::string chip;
  std::string topology;
  ConfigArguments config;
};

/// The configuration for every chip and slice; empty lists: its own.
/// @throws input::InputError if a chip is unknown, or if no chip offers a slice
std::vector<RequestedMachine> requested_machines(const ConfigArguments& config,
                                                 const std::string& chips,
                                                 const std::string& slices);

/// The machines with each of these numbers of ranks, which must be on a switch or fully connected.
/// An empty list: powers of two up to the configured number where chips are joined so, else the
/// machines as they are. @throws input::InputError naming --ranks
std::vector<RequestedMachine> with_ranks(const std::vector<RequestedMachine>& machines,
                                         const std::string& ranks);

/// The numbers of ranks in a list like "2,4,8"; for an empty list powers of two up to `chips`.
/// @throws input::InputError naming --ranks
std::vector<std::uint32_t> numbers_of_ranks(const std::string& ranks, std::uint32_t chips);

}  // namespace equarx::cli
