// A program of XLA as a step: what each chip does once, collectives over axes of a mesh.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "models/hlo/flow.hpp"
#include "models/steps/imported_collective.hpp"
#include "models/steps/mesh.hpp"
#include "models/steps/step.hpp"

namespace equarx::steps {

/// The step, and what became of each site of the flow.
struct HloStep {
  StepGraph graph;
  std::vector<ImportedCollective> collectives;  ///< by hlo::SiteId
};

/// Axes for the groups of a program of `devices` chips, named "axis0" and so on from the slowest, or the one axis
/// "chips".
std::vector<MeshAxis> axes_for(const hlo::Flow& flow, std::uint32_t devices);

/// Makes the step. Chips of the program are numbered along the mesh's axes, the last fastest (hlo::DeviceAxes).
///
/// Tasks of the core run in the order of the program, one for all that is between two collectives. A collective waits
/// for what stands before it, and what stands behind its end waits for it. Those over the same axes share a stream.
/// What moves to or from the host is waited for.
/// Integers, and numbers of types that no collective of ours has, are taken as floating-point numbers of as many bytes.
/// @throws std::invalid_argument for a program that makes more than 100,000 tasks or a million operations
HloStep hlo_step(const hlo::Flow& flow, const Mesh& mesh);

}  // namespace equarx::steps
