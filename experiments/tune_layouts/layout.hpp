// Division of a training step over the chips of a machine.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/input/json_value.hpp"
#include "experiments/config/step.hpp"

namespace equarx::tune_layouts {

/// A mesh axis that training divides work over.
struct LayoutAxis {
  std::string_view name;
  std::string_view abbreviation;  ///< as in Megatron-LM and torchtitan
};

/// Mesh axes, the one with the nearest chips last: Megatron-LM's order `tp-cp-ep-dp-pp`.
inline constexpr std::array kLayoutAxes = {
    LayoutAxis{"pipeline", "PP"}, LayoutAxis{"data", "DP"},    LayoutAxis{"fsdp", "FSDP"},
    LayoutAxis{"expert", "EP"},   LayoutAxis{"context", "CP"}, LayoutAxis{"tensor", "TP"}};

/// Chips along each of kLayoutAxes.
using AxisLengths = std::array<std::uint32_t, kLayoutAxes.size()>;

/// Index into kLayoutAxes. @throws std::logic_error for other names
std::size_t axis_index(std::string_view name);

/// Settings of a training step that a search varies.
struct Layout {
  AxisLengths lengths = {1, 1, 1, 1, 1, 1};
  std::uint32_t microbatches = 1;
  steps::PipelineKind schedule = steps::PipelineKind::one_forward_one_backward;
  std::uint32_t chunks = 1;
  steps::ContextMethod context = steps::ContextMethod::ring;
  bool distributed_optimizer = false;
  steps::Remat remat = {};

  std::uint32_t length(std::string_view axis) const { return lengths[axis_index(axis)]; }
  bool operator==(const Layout&) const = default;
};

/// The layout of a configuration that trains a model.
Layout layout_of(const config::StepConfig& config);

/// The training of `config` with the settings of a layout. Its "pipeline": "layers" are kept if there are
/// as many parts.
steps::Training training_of(const config::StepConfig& config, const Layout& layout);

/// Mesh axes with several chips, in the order of kLayoutAxes; "data" if there are none.
std::vector<steps::MeshAxis> mesh_axes(const Layout& layout);

/// "TP4 CP2 DP2 PP8, 32 microbatches, interleaved x8, ring, ZeRO-1", the last for a distributed optimizer;
/// and the remat policy unless `config` has the same.
std::string layout_text(const config::StepConfig& config, const Layout& layout);

/// `json`, which `config` was read from, with another layout.
input::Json with_layout(const input::Json& json, const config::StepConfig& config,
                        const Layout& layout);

}  // namespace equarx::tune_layouts
