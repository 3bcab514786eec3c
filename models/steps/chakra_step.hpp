// Chakra's traces of all chips as a step.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "models/chakra/trace.hpp"
#include "models/formats/block_format.hpp"
#include "models/steps/imported_collective.hpp"
#include "models/steps/mesh.hpp"
#include "models/steps/step.hpp"

namespace equarx::steps {

/// Chips of a process group, by its name.
using ChakraGroups = std::map<std::string, std::vector<std::uint32_t>>;

/// What the chips of a machine do.
struct ChakraTraces {
  std::vector<chakra::Trace> chips;  ///< by chip; or one that stands for all
  std::uint32_t devices = 1;
  ChakraGroups groups;
};

/// What a user says of them.
struct ChakraOptions {
  numerics::ElementFormat dtype = numerics::ElementFormat::bf16;  ///< of what is communicated
  bool recorded_times = false;  ///< computations take the time that was recorded
};

/// A collective of the traces.
struct ChakraCollective {
  std::string name;    ///< of its first node
  std::string kind;    ///< as Chakra calls it
  double bytes = 0.0;  ///< what each chip brings; after an all-gather, what it has
  std::uint32_t chips = 0;
  double times = 0.0;
  ImportedCollective imported = {};
};

/// The step, and what became of its nodes.
struct ChakraStep {
  StepGraph graph;
  std::vector<ChakraCollective> collectives;   ///< in the order in which they are first done
  std::map<std::string, std::uint64_t> notes;  ///< what was left out or decided, and how often
};

/// Axes for the groups of the traces, named "axis0" and so on from the slowest, or the one axis "chips".
/// @throws std::invalid_argument as chakra_step()
std::vector<MeshAxis> axes_for(const ChakraTraces& traces);

/// Makes the step. Nodes are taken by their number once what they wait for is taken, as ASTRA-sim issues them: those
/// that compute by the core, collectives that are alike but for numbers in their names by one stream, loads and stores
/// by the host's.
///
/// A computation takes its num_ops on the matrix unit, in bf16, and its tensor_size from HBM; if it has neither, the
/// time that was recorded. comm_size of an AllGather is what a chip brings, of all others the whole (ASTRA-sim,
/// system/collective/Ring.cc). Nodes that are not simulated (sends, receives, metadata, what the host's processor does)
/// take no time; who waits for them waits for what they wait for.
/// @throws std::invalid_argument for nodes that are there twice, wait for what is not there or for themselves, chips that
/// do not all do the same, and groups of chips that are not there
ChakraStep chakra_step(const ChakraTraces& traces, const Mesh& mesh,
                       const ChakraOptions& options = {});

}  // namespace equarx::steps
