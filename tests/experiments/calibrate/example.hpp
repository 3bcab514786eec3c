// Example calibration for tests.
#pragma once

#include <filesystem>

#include "base/input/json.hpp"
#include "base/input/json_text.hpp"

namespace equarx::calibrate {

/// The calibration of configs/calibrations with its configurations inlined.
inline input::Json example() {
  const std::filesystem::path folder = std::filesystem::path(EQUARX_CONFIGS_DIR) / "calibrations";
  input::Json json = input::parse_json(input::read_file((folder / "made_up_chip.json").string()));
  for (input::Json& measurement : json["measurements"])
    measurement["config"] = input::parse_json(
        input::read_file((folder / measurement["config"].get<std::string>()).string()));
  return json;
}

}  // namespace equarx::calibrate
