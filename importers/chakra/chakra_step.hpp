// Converts Chakra traces of all chips to a step.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "importers/chakra/trace.hpp"
#include "importers/common/imported_collective.hpp"
#include "models/formats/block_format.hpp"
#include "models/steps/mesh.hpp"
#include "models/steps/step.hpp"

namespace equarx::steps {

/// Chips of each process group, by its name.
using ChakraGroups = std::map<std::string, std::vector<std::uint32_t>>;

/// Chakra traces of a machine.
struct ChakraTraces {
  std::vector<chakra::Trace> chips;  ///< by chip; or a single trace that applies to all chips
  std::uint32_t devices = 1;
  ChakraGroups groups;
};

/// Options of the conversion.
struct ChakraOptions {
  /// Element type of communicated tensors.
  numerics::ElementFormat dtype = numerics::ElementFormat::bf16;
  bool recorded_times = false;  ///< computations take their recorded time
};

/// A collective of the traces; occurrences that differ only in numbers in their names are one.
struct ChakraCollective {
  std::string name;    ///< name of its first node
  std::string kind;    ///< Chakra's name of the kind
  double bytes = 0.0;  ///< input per chip; result per chip for an all-gather
  std::uint32_t chips = 0;
  double times = 0.0;
  ImportedCollective imported = {};
};

/// The step, and a summary of the conversion.
struct ChakraStep {
  StepGraph graph;
  std::vector<ChakraCollective> collectives;   ///< in order of first occurrence
  std::map<std::string, std::uint64_t> notes;  ///< number of nodes per simplification
};

/// Returns mesh axes for the groups of the traces: "axis0", "axis1", ... from the slowest, or the
/// single axis "chips".
/// @throws std::invalid_argument as chakra_step()
std::vector<MeshAxis> axes_for(const ChakraTraces& traces);

/// Builds the step. Nodes are issued by ascending id once their dependencies have been issued, as
/// in ASTRA-sim. Compute nodes run on the core, loads and stores on the host streams; collectives
/// that differ only in numbers in their names share a stream.
///
/// A computation runs num_ops on the matrix unit, in bf16, and moves tensor_size from HBM; without
/// either, it takes its recorded time. comm_size is the input per chip for an AllGather and the
/// whole tensor for all other collectives (ASTRA-sim, system/collective/Ring.cc). Unsupported nodes
/// (sends, receives, metadata, work of the host processor) take no time; nodes that depend on them
/// depend on their dependencies instead.
/// @throws std::invalid_argument for duplicate node ids, unknown dependencies, dependency cycles,
/// chips whose traces differ, and groups with unknown chips
ChakraStep chakra_step(const ChakraTraces& traces, const Mesh& mesh,
                       const ChakraOptions& options = {});

}  // namespace equarx::steps
