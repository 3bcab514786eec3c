// equarx-sim import: programs of others as steps.
#pragma once

#include <string>
#include <vector>

namespace equarx::cli {

/// Of `equarx-sim import`; texts as the user wrote them.
struct ImportArguments {
  std::string kind;  ///< "hlo"
  std::string file;
  std::string hardware = "tpu-v5e";
  std::string topology;
  std::string mesh;              ///< "data=2,model=8"; empty: as the program's groups are
  std::string formats = "int8";  ///< "int8,fp8-e4m3"; empty: no variants
  std::string min_bytes = "64 KiB";
  std::vector<std::string> trip_counts;  ///< "32", "while.5=32"
  std::string output;  ///< file for the step's configuration; "-": standard output; empty: none
  bool json = false;
  bool only_read = false;  ///< nothing is simulated
};

/// Prints what a program's collectives take and what formats bring, and writes its step if that is asked for.
/// @throws input::InputError for the user's mistakes
void import_program(const ImportArguments& arguments);

}  // namespace equarx::cli
