// Converts Chakra traces of all chips to a step.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "importers/chakra/merged_nodes.hpp"
#include "importers/common/imported_collective.hpp"
#include "models/formats/block_format.hpp"
#include "models/steps/mesh.hpp"
#include "models/steps/step.hpp"

namespace equarx::steps {

/// Communicator groups by name.
using ChakraGroups = chakra::Groups;
/// Traces of all chips, with their groups.
using ChakraTraces = chakra::Traces;

/// Options of the conversion.
struct ChakraOptions {
  /// Element type of communicated tensors.
  numerics::ElementFormat dtype = numerics::ElementFormat::bf16;
  bool recorded_times = false;  ///< computations take their recorded time
};

/// A collective of the traces, or the messages of a send; occurrences that differ only in numbers in their names are one.
struct ChakraCollective {
  std::string name;         ///< name of its first node
  std::string kind;         ///< Chakra's name of the kind
  double bytes = 0.0;       ///< input per chip; result per chip for an all-gather
  std::uint32_t chips = 0;  ///< per group; senders of messages
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

/// Builds the step from the merged nodes of the traces, in their order (chakra::merged_nodes()).
/// Compute nodes run on the core, loads and stores on the host streams; collectives that differ only
/// in numbers in their names share a stream. Messages are permutes that do not wait, and receives,
/// with a stream of each for equal pairs of chips. A node that only some chips run is a task of these
/// chips.
///
/// A computation runs num_ops on the matrix unit, in bf16, and moves tensor_size from HBM; without
/// either, it takes its recorded time. comm_size is the input per chip for an AllGather and the
/// whole tensor for all other collectives (ASTRA-sim, system/collective/Ring.cc). A barrier is an
/// AllReduce of one element. Unsupported nodes (reduces, gathers, scatters, metadata, work of the host
/// processor) take no time; nodes that depend on them depend on their dependencies instead.
/// @throws std::invalid_argument as chakra::merged_nodes(), and if nothing takes time
ChakraStep chakra_step(const ChakraTraces& traces, const Mesh& mesh,
                       const ChakraOptions& options = {});

}  // namespace equarx::steps
