// equarx-sim calibrate: a chip's parameters from measurements.
#pragma once

#include <string>

namespace equarx::cli {

/// Of `equarx-sim calibrate`.
struct CalibrateArguments {
  std::string file;    ///< calibration file (configs/schema/calibration.schema.json)
  std::string output;  ///< hardware file to write; empty: none
  bool json = false;
};

/// @throws input::InputError for what is wrong; then nothing is written.
void calibrate(const CalibrateArguments& arguments);

}  // namespace equarx::cli
