// The "mesh" of a step configuration.
#pragma once

#include "base/input/object_reader.hpp"
#include "experiments/config/config.hpp"
#include "models/steps/mesh.hpp"

namespace equarx::config {

/// Reads named axes, {"fsdp": 16, "tensor": {"length": 4, "axes": [2]}}, and maps them to the axes
/// of a machine (machine_axes()). @throws input::InputError if they do not fit
steps::Mesh read_mesh(const input::Json& json, const TopologyConfig& topology);

/// Inverse of read_mesh(), with the machine axes of each mesh axis.
input::Json mesh_json(const steps::Mesh& mesh);

/// Schema of "mesh", with annotations.
input::Json mesh_schema();

}  // namespace equarx::config
