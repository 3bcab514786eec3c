// A program of XLA as the configuration of a step.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "experiments/input/json_value.hpp"
#include "models/hlo/flow.hpp"

namespace equarx::imports {

/// What a user says of a program besides its text.
struct HloOptions {
  std::string hardware = "tpu-v5e";  ///< as the key of a configuration
  /// A slice, "4x4"; another kind and its value, "torus:4x4x4"; or the JSON object of a configuration.
  std::string topology;
  /// Axes of the mesh from the slowest: name and length. Empty: as the program's groups divide its chips.
  std::vector<std::pair<std::string, std::uint32_t>> mesh = {};
  std::vector<std::string> formats = {"int8"};  ///< a variant of the step for each
  double min_bytes = 65536.0;  ///< collectives of less are left as they are in every variant
  hlo::TripCounts counts = {};
};

/// A collective of a program.
struct ImportedSite {
  std::string group;        ///< of its tasks
  std::string op_name;      ///< of the user's program; may be empty
  std::string kind;         ///< "all-gather"
  std::string type;         ///< of HLO: "bf16"
  double bytes = 0.0;       ///< what each chip brings; after an all-gather, what it has
  std::uint32_t chips = 0;  ///< of a group; 0 if it cannot be read
  std::string axes;         ///< of the mesh: "data+model"
  double times = 0.0;       ///< it is carried out
  std::string obstacle;     ///< why it is not simulated; empty: it is
  bool quantized = false;   ///< in the variants of formats
};

/// A program, and the step that it is.
struct HloImport {
  std::string name;
  std::uint64_t instructions = 0;
  std::uint64_t computations = 0;
  std::uint64_t devices = 0;
  hlo::FlowTotals totals;
  std::vector<ImportedSite>
      sites;  ///< in the order of the text of each computation, as it is first run
  hlo::Skipped notes;
  input::JsonValue step;  ///< a configuration, as read_step_config() reads it
};

/// Reads the options of a user: "data=2,model=4"; "32" or "while.5=32". @throws input::InputError that names `option`
std::vector<std::pair<std::string, std::uint32_t>> read_lengths(const std::string& option,
                                                                const std::string& text);
hlo::TripCounts read_trip_counts(const std::string& option, const std::vector<std::string>& texts);

/// Whether a text begins as HLO does.
bool is_program(std::string_view text);

/// Reads the text of a file. @throws input::InputError if it cannot be read, or is larger than 1 GiB
std::string read_program(const std::string& path);

/// @param text  of a program
/// @throws input::InputError for what is no text or no HLO, and a program that the machine or mesh does not fit
HloImport import_hlo(const std::string& text, const HloOptions& options);

}  // namespace equarx::imports
