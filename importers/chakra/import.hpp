// Importer and exporter of Chakra execution traces.
#pragma once

#include <string>
#include <vector>

#include "experiments/config/step.hpp"
#include "importers/chakra/chakra_step.hpp"
#include "importers/common/program.hpp"
#include "models/formats/block_format.hpp"

namespace equarx::imports {

/// Options of the Chakra importer.
struct ChakraImportOptions : ProgramOptions {
  /// Element type of communicated tensors.
  numerics::ElementFormat dtype = numerics::ElementFormat::bf16;
  std::string groups;  ///< JSON of communicator groups in the form of ASTRA-sim; may be empty
  bool recorded_times = false;  ///< computations take their recorded time
};

/// A trace file.
struct TraceFile {
  std::string path;
  std::string bytes;
};

/// Reads one file, if `path` ends in ".et", or PREFIX.0.et, PREFIX.1.et, ..., one per chip.
/// @throws input::InputError if there are none, or more than 65,536
std::vector<TraceFile> read_traces(const std::string& path);

/// @param files  one per chip, in order; or a single one that applies to all chips
/// @throws input::InputError for malformed traces and traces that do not form a step; names the
/// file
ImportedProgram import_chakra(const std::string& name, const std::vector<TraceFile>& files,
                              const ChakraImportOptions& options);

/// File name of the trace of a chip, as ASTRA-sim expects it: PREFIX.3.et.
std::string trace_path(const std::string& prefix, std::uint32_t chip);

/// Traces of a step, and their groups as JSON.
class ChakraExport {
 public:
  /// @throws input::InputError for computations that the chip does not support
  explicit ChakraExport(const config::StepConfig& config);

  std::uint32_t chips() const { return config_.mesh.chips(); }
  /// Contents of the trace file of a chip.
  std::string trace(std::uint32_t chip) const;
  /// Groups as JSON: {"1": [0, 1], "2": [2, 3]}.
  std::string groups() const;

 private:
  const config::StepConfig& config_;
  std::vector<double> core_s_;  ///< by task
};

}  // namespace equarx::imports
