// The readers of JSON that are fuzzed. Each is given a whole file and goes as far as the program does with it before
// anything is simulated; it throws input::InputError for what a user has to mend, and nothing else.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace equarx::testing {

/// A reader of one kind of file.
struct JsonReader {
  std::string_view name;
  std::vector<std::string_view> schemas;  ///< whose words such files are made of
  void (*read)(std::string_view text);
};

std::vector<JsonReader> config_readers();  ///< of experiments and steps
std::vector<JsonReader> part_readers();    ///< of what these name: chips, models, machine graphs
std::vector<JsonReader> list_readers();    ///< of many runs: sweeps, studies, calibrations
std::vector<JsonReader> text_readers();    ///< of results, and of JSON as such

/// Writes a file of that name into a folder that is removed when the program ends, for readers that take a path.
/// Returns its path.
std::string scratch_file(std::string_view name, std::string_view text);
std::string scratch_folder();

/// Ends the program, as a failed assertion, unless it holds.
void expect(bool holds, std::string_view what);

}  // namespace equarx::testing
