// A program that others wrote, as the configuration of a step.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "experiments/config/topology.hpp"
#include "experiments/input/json_value.hpp"
#include "models/steps/imported_collective.hpp"
#include "models/steps/mesh.hpp"
#include "models/steps/step.hpp"

namespace equarx::imports {

/// What each chip does, once through.
struct ProgramTotals {
  double flops = 0.0;       ///< of matrix products
  double vector_ops = 0.0;  ///< operations of the vector unit
  double hbm_bytes = 0.0;
  double to_host_bytes = 0.0;
  double from_host_bytes = 0.0;
  double collective_bytes = 0.0;  ///< ImportedSite::bytes of all
};

/// A collective of a program.
struct ImportedSite {
  std::string group;        ///< of its tasks
  std::string op_name;      ///< of the user's program; may be empty
  std::string kind;         ///< "all-gather"
  std::string type;         ///< as the program calls it: "bf16"
  double bytes = 0.0;       ///< what each chip brings; after an all-gather, what it has
  std::uint32_t chips = 0;  ///< of a group; 0 if it cannot be read; of a permute those that send
  std::string axes;         ///< of the mesh: "data+model"; else "groups of 4", "pairs"
  double times = 0.0;       ///< it is carried out
  std::string obstacle;     ///< why it is not simulated; empty: it is
  bool is_permute = false;  ///< which no rule is for
  bool quantized = false;   ///< in the variants of formats
};

/// A program, and the step that it is.
struct ImportedProgram {
  std::string name;
  std::string size;  ///< for people: "123 instructions in 19 computations"
  std::vector<std::pair<std::string, std::uint64_t>> counts;  ///< the same: "instructions", 123
  std::uint64_t devices = 0;
  ProgramTotals totals;
  std::vector<ImportedSite> sites;             ///< in the order in which they are first done
  std::map<std::string, std::uint64_t> notes;  ///< what was left out or decided, and how often
  input::JsonValue step;                       ///< a configuration, as read_step_config() reads it
};

/// What a user says of any program.
struct ProgramOptions {
  std::string hardware = "tpu-v5e";  ///< as the key of a configuration
  /// A slice, "4x4"; another kind and its value, "torus:4x4x4"; or the JSON object of a configuration.
  std::string topology;
  /// Axes of the mesh from the slowest: name and length. Empty: as the program's groups divide its chips.
  std::vector<std::pair<std::string, std::uint32_t>> mesh = {};
  std::vector<std::string> formats = {"int8"};  ///< a variant of the step for each
  double min_bytes = 65536.0;  ///< collectives of less are left as they are in every variant
};

/// Reads an option of a user: "data=2,model=4". @throws input::InputError that names `option`
std::vector<std::pair<std::string, std::uint32_t>> read_lengths(const std::string& option,
                                                                const std::string& text);

/// The machine that a program runs on.
struct ProgramMachine {
  std::string hardware;       ///< as the key of a configuration
  input::JsonValue topology;  ///< likewise
  config::TopologyConfig config;

  std::uint32_t chips() const;
};

/// @throws input::InputError for what is no machine
ProgramMachine read_machine(const ProgramOptions& options);

/// The mesh that a user gives, or one of `axes_of_program`. @throws input::InputError if it does not lie on the machine
steps::Mesh mesh_for(const ProgramMachine& machine, const ProgramOptions& options,
                     const std::function<std::vector<steps::MeshAxis>()>& axes_of_program);

/// What a collective is over, for people: "data+model", "groups of 4", "pairs".
std::string axes_text(const steps::ImportedCollective& collective, const steps::Mesh& mesh);

/// Whether the variants of formats quantize a collective.
bool is_quantized(const steps::ImportedCollective& collective, double bytes,
                  const ProgramOptions& options);

/// The configuration of the step, with a variant as it is and one for each format.
input::JsonValue step_json(const steps::StepGraph& graph, const steps::Mesh& mesh,
                           const ProgramMachine& machine, const ProgramOptions& options,
                           const std::vector<ImportedSite>& sites);

}  // namespace equarx::imports
