// Placement of mesh axes on the axes of a machine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "models/steps/mesh.hpp"

namespace equarx::steps {

/// Part of a machine axis.
struct AxisPart {
  std::size_t axis = 0;
  std::uint32_t length = 1;  ///< divides the length of the axis

  bool operator==(const AxisPart&) const = default;
};

/// How positions of a mesh without explicit machine axes become chips.
enum class DeviceOrder : std::uint8_t {
  /// Whole machine axes in order, if that is possible; otherwise divided as by JAX's
  /// create_device_mesh(allow_split_physical_axes=True).
  jax,
  /// Position i is chip i, as JAX lays a mesh on GPUs, and Megatron-LM its ranks.
  machine,
};

/// Properties of a machine that decide how its axes are divided.
struct LayoutRules {
  DeviceOrder order = DeviceOrder::jax;
  /// Axis 0 is a network of slices: its parts go to the slowest mesh axes that they divide, as in
  /// JAX's create_hybrid_device_mesh.
  bool has_network = false;
  bool is_grid = true;  ///< false: chips of a slice are all alike, and are divided in order
};

/// Places mesh axes on machine axes. Axes with explicit `machine_axes`, whole axes, keep them; the
/// others, in order, get the first unused machine axes that fit, or parts of them by `rules`. A
/// mesh in machine order whose axes do not align with parts of machine axes has Mesh::order.
/// @throws std::invalid_argument if the numbers of chips differ, or explicit axes do not fit
Mesh lay_mesh(const std::vector<std::uint32_t>& machine, std::vector<MeshAxis> axes,
              const LayoutRules& rules = {});

/// Likewise on whole machine axes only; std::nullopt if that is impossible.
/// @throws std::invalid_argument as lay_mesh()
std::optional<Mesh> lay_whole(const std::vector<std::uint32_t>& machine,
                              std::vector<MeshAxis> axes);

/// Places each mesh axis on the given parts of machine axes, at most one part of each; of the parts
/// of one machine axis, that of the last mesh axis varies fastest. `parts`: by mesh axis.
/// @throws std::invalid_argument if the parts do not multiply to the lengths of the axes
Mesh lay_parts(const std::vector<std::uint32_t>& machine, std::vector<MeshAxis> axes,
               const std::vector<std::vector<AxisPart>>& parts);

/// Places position i on chip order[i]. @throws std::invalid_argument unless `order` holds every
/// chip once
Mesh lay_in_order(std::vector<std::uint32_t> machine, std::vector<MeshAxis> axes,
                  std::vector<std::uint32_t> order);

}  // namespace equarx::steps
