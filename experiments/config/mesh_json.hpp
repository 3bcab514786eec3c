// The "mesh" of a step configuration.
#pragma once

#include "base/input/object_reader.hpp"
#include "experiments/config/config.hpp"
#include "models/steps/mesh_layout.hpp"

namespace equarx::config {

/// Reads named axes, {"fsdp": 16, "tensor": {"length": 4, "axes": [2]}}, and maps them to the axes
/// of a machine (machine_axes()): whole ones, or parts of them, "axes": [0, [1, 2]]. "order" is
/// "jax", "machine", or the chips by position. @throws input::InputError if they do not fit
steps::Mesh read_mesh(const input::Json& json, const TopologyConfig& topology);

/// Places mesh axes on the axes of a topology. @throws std::invalid_argument as steps::lay_mesh()
steps::Mesh lay_on(const TopologyConfig& topology, std::vector<steps::MeshAxis> axes,
                   steps::DeviceOrder order);

/// Inverse of read_mesh(), with the machine axes of each mesh axis, or their parts.
input::Json mesh_json(const steps::Mesh& mesh);

/// Schema of "mesh", with annotations.
input::Json mesh_schema();

}  // namespace equarx::config
