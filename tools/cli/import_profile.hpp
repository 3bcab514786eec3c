// Import of profiles.
#pragma once

#include "importers/profile/import.hpp"
#include "tools/cli/commands.hpp"

namespace equarx::cli {

/// Prints recorded and simulated times of the collectives of profiles.
/// @throws input::InputError naming the file or the option
void import_profile(const ImportArguments& arguments, imports::Profiler profiler);

}  // namespace equarx::cli
