// Importer of HLO text.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "importers/common/program.hpp"
#include "importers/hlo/flow.hpp"

namespace equarx::imports {

/// Options of the HLO importer.
struct HloOptions : ProgramOptions {
  hlo::TripCounts counts = {};
  hlo::CustomCalls calls = {};
  std::optional<std::uint32_t> chips = {};  ///< of a program without a count in its header
  bool audit = false;                       ///< also applies the rules of the audit
};

/// Parses values of --custom-call: "NAME=1.5e12" (FLOPs), "NAME=1.5e12:2e9" (and bytes).
/// @throws input::InputError
hlo::CustomCalls read_custom_calls(const std::vector<std::string>& texts);

/// Parses the value of --chips, from 1 to 2^24; std::nullopt if empty. @throws input::InputError
std::optional<std::uint32_t> read_chips(const std::string& text);

/// Parses option values: "32" or "while.5=32". @throws input::InputError that names `option`
hlo::TripCounts read_trip_counts(const std::string& option, const std::vector<std::string>& texts);

/// True if a text starts like an HLO module.
bool is_program(std::string_view text);

/// Reads a file. @throws input::InputError if it is unreadable or larger than 1 GiB
std::string read_program(const std::string& path);

/// @param text  HLO text
/// @throws input::UserError for binary or malformed input, for text before partitioning
/// (check_partitioned()), and if the program does not fit the machine or mesh
ImportedProgram import_hlo(std::string text, const HloOptions& options);

}  // namespace equarx::imports
