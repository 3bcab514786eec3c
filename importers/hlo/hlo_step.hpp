// Converts an XLA program to a step whose collectives run over mesh axes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "importers/common/imported_collective.hpp"
#include "importers/hlo/flow.hpp"
#include "models/steps/mesh.hpp"
#include "models/steps/step.hpp"

namespace equarx::steps {

/// The step, and how each collective of the flow is simulated.
struct HloStep {
  StepGraph graph;
  std::vector<ImportedCollective> collectives;  ///< by hlo::OpId
};

/// Returns mesh axes for the replica groups of a program of `devices` chips: "axis0", "axis1", ...
/// from the slowest, or the single axis "chips".
std::vector<MeshAxis> axes_for(const hlo::Flow& flow, std::uint32_t devices);

/// Builds the step. Chips of the program are numbered along the mesh axes, the last one fastest
/// (imports::DeviceAxes).
///
/// Core tasks run in program order, one for all work between two collectives. A collective waits
/// for the work before its start, and work after its end waits for it. Collectives over the same
/// axes share a stream. Host transfers are blocking. Integers and other types without a counterpart
/// in collectives are treated as floating-point numbers of the same size.
/// @throws std::invalid_argument if the program expands to more than 100,000 tasks or a million
/// operations
HloStep hlo_step(const hlo::Flow& flow, const Mesh& mesh);

}  // namespace equarx::steps
