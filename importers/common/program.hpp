// Imported programs, converted to step configurations.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/input/json_value.hpp"
#include "experiments/config/topology.hpp"
#include "importers/common/audit.hpp"
#include "importers/common/imported_collective.hpp"
#include "models/steps/mesh.hpp"
#include "models/steps/step.hpp"

namespace equarx::imports {

/// Totals per chip over one execution; where chips differ, of the chip with the largest.
struct ProgramTotals {
  double flops = 0.0;       ///< GEMM FLOPs
  double vector_ops = 0.0;  ///< vector operations
  double hbm_bytes = 0.0;
  double to_host_bytes = 0.0;
  double from_host_bytes = 0.0;
  double collective_bytes = 0.0;  ///< sum of ImportedOp::bytes
  bool differ = false;            ///< chips run different work
};

/// A collective of an imported program.
struct ImportedOp {
  std::string group;        ///< group of its tasks
  std::string op_name;      ///< operation in the source program; may be empty
  std::string kind;         ///< "all-gather"
  std::string type;         ///< element type in the notation of the program: "bf16"
  double bytes = 0.0;       ///< input per chip; result per chip for an all-gather
  std::uint32_t chips = 0;  ///< chips per group, 0 if unreadable; senders of a permute
  std::string axes;         ///< mesh axes, "data+model"; otherwise "groups of 4" or "pairs"
  double times = 0.0;       ///< number of executions
  std::string skip_reason;  ///< why it is not simulated; empty if it is
  bool is_permute = false;  ///< permutes cannot be quantized
  bool quantized = false;   ///< quantized in the format variants
};

/// An imported program and its step.
struct ImportedProgram {
  std::string name;
  std::string size;  ///< size for reports: "123 instructions in 19 computations"
  /// Size for JSON: "instructions", 123.
  std::vector<std::pair<std::string, std::uint64_t>> counts;
  std::uint64_t devices = 0;
  ProgramTotals totals;
  std::vector<ImportedOp> ops;  ///< in order of first execution
  /// Approximations and unsupported constructs, with counts.
  std::map<std::string, std::uint64_t> notes;
  input::JsonValue step;  ///< step configuration, as accepted by read_step_config()
  std::optional<ProgramAudit> audit = {};  ///< if requested
};

/// Options common to all importers.
struct ProgramOptions {
  std::string hardware = "tpu-v5e";  ///< value of the configuration key "hardware"
  /// A slice, "4x4"; another kind and its value, "torus:4x4x4"; or a JSON object as in a
  /// configuration.
  std::string topology;
  /// Mesh axes, slowest first: name and length. If empty, inferred from the groups of the program.
  std::vector<std::pair<std::string, std::uint32_t>> mesh = {};
  /// Chips of the program's devices: "jax", "machine" (steps::DeviceOrder), or their numbers. If
  /// empty, "machine" on nodes of GPUs and "jax" on grids.
  std::string device_order = {};
  std::vector<std::string> formats = {"int8"};  ///< one variant of the step per format
  double min_bytes = 65536.0;                   ///< smaller collectives are never quantized
};

/// Parses an option value such as "data=2,model=4".
/// @throws input::InputError that names `option`
std::vector<std::pair<std::string, std::uint32_t>> read_lengths(const std::string& option,
                                                                const std::string& text);

/// Machine that a program runs on.
struct ProgramMachine {
  std::string hardware;       ///< value of the configuration key "hardware"
  input::JsonValue topology;  ///< value of the configuration key "topology"
  config::TopologyConfig config;

  std::uint32_t chips() const;
};

/// @throws input::InputError if the options do not describe a machine
ProgramMachine read_machine(const ProgramOptions& options);

/// Maps the mesh given by the user, or else the axes of the program, to the machine.
/// @throws input::InputError if that is impossible
steps::Mesh mesh_for(const ProgramMachine& machine, const ProgramOptions& options,
                     const std::function<std::vector<steps::MeshAxis>()>& axes_of_program);

/// Groups of a collective for reports: "data+model", "groups of 4", "pairs".
std::string axes_text(const steps::ImportedCollective& collective, const steps::Mesh& mesh);

/// True if the format variants quantize a collective.
bool is_quantized(const steps::ImportedCollective& collective, double bytes,
                  const ProgramOptions& options);

/// Builds the step configuration, with an unquantized baseline and one variant per format.
input::JsonValue step_json(const steps::StepGraph& graph, const steps::Mesh& mesh,
                           const ProgramMachine& machine, const ProgramOptions& options,
                           const std::vector<ImportedOp>& ops);

}  // namespace equarx::imports
