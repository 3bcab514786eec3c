// A step as Chakra's traces, one of each chip.
#pragma once

#include <cstdint>
#include <span>

#include "models/chakra/trace.hpp"
#include "models/steps/chakra_step.hpp"
#include "models/steps/mesh.hpp"
#include "models/steps/step.hpp"

namespace equarx::steps {

/// The groups of the step's collectives that are not all chips, by names "1", "2" and so on, as ASTRA-sim's file of
/// communicator groups has them. Chips are numbered along the mesh's axes, the last fastest.
ChakraGroups chakra_groups(const StepGraph& graph, const Mesh& mesh);

/// What a chip does. A node has the number of its task, and waits for what the task names and for what its stream does
/// before. A computation has its FLOPs and HBM bytes, and as recorded time `core_s` of its task; vector operations have
/// no place in a trace but in that. Collectives have the bytes of plain ones: of an AllGather what a chip brings, of all
/// others the whole.
/// @param core_s  by task, in seconds
chakra::Trace chakra_trace(const StepGraph& graph, const Mesh& mesh, std::span<const double> core_s,
                           std::uint32_t chip);

}  // namespace equarx::steps
