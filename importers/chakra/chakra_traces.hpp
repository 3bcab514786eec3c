// Converts a step to Chakra traces, one per chip.
#pragma once

#include <cstdint>
#include <span>

#include "importers/chakra/chakra_step.hpp"
#include "importers/chakra/trace.hpp"
#include "models/steps/mesh.hpp"
#include "models/steps/step.hpp"

namespace equarx::steps {

/// Returns the groups of the step's collectives, except the group of all chips, named "1", "2", ...
/// as in ASTRA-sim's communicator group file. Chips are numbered along the mesh axes, the last one
/// fastest.
ChakraGroups chakra_groups(const StepGraph& graph, const Mesh& mesh);

/// Returns the trace of a chip. A node has the number of its task and depends on the explicit
/// dependencies of the task and on the preceding task of its stream. A computation has its FLOPs
/// and HBM bytes, and `core_s` of its task as recorded time; traces cannot express vector
/// operations otherwise. Collectives have the bytes of unquantized ones: the input per chip for an
/// AllGather, the whole tensor for all others.
/// @param core_s  core time by task, in seconds
chakra::Trace chakra_trace(const StepGraph& graph, const Mesh& mesh, std::span<const double> core_s,
                           std::uint32_t chip);

}  // namespace equarx::steps
