// Fuzzed JSON readers. Each takes a whole file and goes as far as the program does before it
// simulates anything; it throws input::InputError for user errors, and nothing else.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace equarx::testing {

/// A reader of one kind of file.
struct JsonReader {
  std::string_view name;
  std::vector<std::string_view> schemas;  ///< sources of the vocabulary of such files
  void (*read)(std::string_view text);
};

std::vector<JsonReader> config_readers();  ///< experiments and steps
std::vector<JsonReader> part_readers();    ///< files they refer to: chips, models, machine graphs
std::vector<JsonReader>
list_readers();  ///< files that describe many runs: sweeps, studies, calibrations
std::vector<JsonReader> text_readers();  ///< results, and JSON in general

/// Writes a file into scratch_folder(), for readers that take a path. Returns its path.
std::string scratch_file(std::string_view name, std::string_view text);
/// Folder of this process, removed when the program ends.
std::string scratch_folder();

/// Aborts, like a failed assertion, unless `holds`.
void expect(bool holds, std::string_view what);

}  // namespace equarx::testing
