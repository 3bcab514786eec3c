// Chakra's execution traces as the configuration of a step, and a step as such traces.
#pragma once

#include <string>
#include <vector>

#include "experiments/config/step.hpp"
#include "experiments/imports/program.hpp"
#include "models/formats/block_format.hpp"
#include "models/steps/chakra_step.hpp"

namespace equarx::imports {

/// What a user says of traces besides their files.
struct ChakraImportOptions : ProgramOptions {
  numerics::ElementFormat dtype = numerics::ElementFormat::bf16;  ///< of what is communicated
  std::string groups;  ///< JSON of communicator groups, as ASTRA-sim reads it; may be empty
  bool recorded_times = false;  ///< computations take the time that was recorded
};

/// A file as it was read.
struct TraceFile {
  std::string path;
  std::string bytes;
};

/// The files of a user's path: one that ends in ".et", or PREFIX of PREFIX.0.et, PREFIX.1.et and so on, one of each chip.
/// @throws input::InputError if there are none, or more than 65,536
std::vector<TraceFile> read_traces(const std::string& path);

/// @param files  of the chips, in their order; or one, which stands for all
/// @throws input::InputError for what is no trace, or no step, with the file that is to blame
ImportedProgram import_chakra(const std::string& name, const std::vector<TraceFile>& files,
                              const ChakraImportOptions& options);

/// The file of a chip's trace, as ASTRA-sim looks for it: PREFIX.3.et.
std::string trace_path(const std::string& prefix, std::uint32_t chip);

/// Traces of a step, and the JSON of their groups.
class ChakraExport {
 public:
  /// @throws input::InputError for what the chip cannot compute
  explicit ChakraExport(const config::StepConfig& config);

  std::uint32_t chips() const { return config_.mesh.chips(); }
  /// Bytes of a chip's file.
  std::string trace(std::uint32_t chip) const;
  /// {"1": [0, 1], "2": [2, 3]}
  std::string groups() const;

 private:
  const config::StepConfig& config_;
  std::vector<double> core_s_;  ///< by task
};

}  // namespace equarx::imports
