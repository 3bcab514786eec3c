// A program of XLA as the configuration of a step.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "experiments/imports/program.hpp"
#include "models/hlo/flow.hpp"

namespace equarx::imports {

/// What a user says of a program besides its text.
struct HloOptions : ProgramOptions {
  hlo::TripCounts counts = {};
};

/// Reads an option of a user: "32" or "while.5=32". @throws input::InputError that names `option`
hlo::TripCounts read_trip_counts(const std::string& option, const std::vector<std::string>& texts);

/// Whether a text begins as HLO does.
bool is_program(std::string_view text);

/// Reads the text of a file. @throws input::InputError if it cannot be read, or is larger than 1 GiB
std::string read_program(const std::string& path);

/// @param text  of a program
/// @throws input::InputError for what is no text or no HLO, and a program that the machine or mesh does not fit
ImportedProgram import_hlo(const std::string& text, const HloOptions& options);

}  // namespace equarx::imports
