// equarx-sim hardware: what is known about chips.
#pragma once

#include <string>

namespace equarx::cli {

/// Of `equarx-sim hardware`.
struct HardwareArguments {
  std::string chip;  ///< name of a built-in chip, or path of a hardware file; empty: list all
  bool json = false;
};

/// @throws input::InputError if there is no such chip, or something is wrong in its file.
void hardware(const HardwareArguments& arguments);

}  // namespace equarx::cli
