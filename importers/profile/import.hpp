// Import of profiles: recorded collectives, and the same ones as a step.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "importers/common/program.hpp"
#include "importers/profile/recorded.hpp"

namespace equarx::imports {

/// Program that wrote a profile.
enum class Profiler : std::uint8_t { kineto, xprof };

/// Recorded collectives of one or several ranks.
struct ImportedProfile {
  std::string chip;           ///< name of the recorded chip; may be empty
  std::uint32_t devices = 0;  ///< recorded ones
  profile::Communication communication;
  std::vector<profile::Recorded> rows;
  /// Name, chips and notes; `ops` by row; a step that runs each simulated row once, one after the
  /// other, or null if there is none.
  ImportedProgram program;
};

/// Reads a profile. @throws input::InputError if it is unreadable or has more than 2 GiB
std::string read_profile_text(const std::string& path);

/// Imports the profiles of one run, one file per rank for Kineto. `read` returns the text of a path.
/// @throws input::InputError also if the machine has another number of chips than the run
ImportedProfile import_profile(Profiler profiler, const std::vector<std::string>& paths,
                               const std::function<std::string(const std::string&)>& read,
                               const ProgramOptions& options);

}  // namespace equarx::imports
