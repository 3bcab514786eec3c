// All layouts of a training step on its machine.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "experiments/config/step.hpp"
#include "experiments/tune_layouts/layout.hpp"
#include "models/steps/mesh_layout.hpp"

namespace equarx::tune_layouts {

/// Restrictions of the search.
struct SpaceOptions {
  std::vector<std::string> axes = {};               ///< that may have several chips; empty: all
  std::map<std::string, std::uint32_t> fixed = {};  ///< lengths of some axes
};

/// Reads lengths of axes like "tensor=4,pipeline=8" after a split at commas.
/// @throws input::InputError at "--layout"
std::map<std::string, std::uint32_t> read_fixed(const std::vector<std::string>& texts);

/// Layouts that the model, the batch and the chips permit, in a fixed order: any lengths that multiply
/// to the number of chips; microbatches that are powers of two or as many as configured; with a pipeline
/// the schedules 1f1b, interleaved and zero-bubble; all kinds of attention over the context; with and
/// without a distributed optimizer; "remat" as configured, "none" and "full".
/// @throws input::InputError at an option that no layout agrees with
std::vector<Layout> layouts(const config::StepConfig& config, const SpaceOptions& options);

/// Order of the chips in "mesh". @throws input::InputError if chips are listed
steps::DeviceOrder device_order(const input::Json& json);

}  // namespace equarx::tune_layouts
