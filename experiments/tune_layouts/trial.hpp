// A simulated layout.
#pragma once

#include <map>
#include <string>

#include "base/input/json_value.hpp"
#include "experiments/config/step.hpp"
#include "experiments/tune_layouts/layout.hpp"

namespace equarx::tune_layouts {

/// Result of a layout.
struct Trial {
  Layout layout;
  double memory_bytes = 0.0;  ///< of the chip that needs most
  double time_s = 0.0;        ///< 0 if it was not simulated, as it does not fit
  double bubble = 0.0;        ///< mean share of the time in which a stage does not compute
  double exposed_s = 0.0;     ///< collectives and rings that do not overlap with compute
  std::map<std::string, double> bytes = {};  ///< bytes_by_axis()
};

/// Reads and simulates a configuration with unquantized collectives; only its memory if it exceeds `hbm_bytes`.
/// @throws input::InputError if it cannot run
Trial run_layout(const input::Json& json, const Layout& layout, double hbm_bytes);

}  // namespace equarx::tune_layouts
