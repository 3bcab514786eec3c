// equarx-sim import: programs and schedules of others.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace equarx::cli {

/// Of `equarx-sim import`; texts as the user wrote them.
struct ImportArguments {
  std::string kind;  ///< "hlo", "chakra", "msccl"
  std::string file;
  std::string hardware;  ///< empty: that of the kind
  std::string topology;
  std::string mesh;              ///< "data=2,model=8"; empty: as the program's groups are
  std::string formats = "int8";  ///< "int8,fp8-e4m3"; empty: no variants
  std::string min_bytes = "64 KiB";
  std::vector<std::string> trip_counts;  ///< "32", "while.5=32"
  std::string output;  ///< file for the step's configuration; "-": standard output; empty: none
  bool json = false;
  bool only_read = false;        ///< nothing is simulated
  std::string bytes = "1 MiB";   ///< of a schedule's whole buffer
  std::string buffer = "4 MiB";  ///< of a queue of the Simple protocol
  std::string format;            ///< of a schedule's messages; empty: FP32
  bool only_check = false;       ///< nothing is simulated of a schedule
  std::string groups;            ///< file of a trace's groups; empty: none
  std::string dtype = "bf16";    ///< of what is communicated in a trace
  bool recorded_times = false;   ///< of a trace's computations
  /// Options that were given and mean something of some kinds only, with these kinds.
  std::vector<std::pair<std::string, std::vector<std::string>>> given_of_kind;
};

/// Prints what a program's collectives take and what formats bring, and writes its step if that is asked for; or what a
/// schedule was found to be, and takes.
/// @throws input::InputError for the user's mistakes
void import_program(const ImportArguments& arguments);

}  // namespace equarx::cli
