// Names of chips and slices in other tools: Google Cloud, GKE, JAX.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "models/hardware/chip.hpp"

namespace equarx::config {

/// A chip by its name elsewhere: as a Cloud TPU version, a GKE accelerator or a JAX device kind.
struct ChipAlias {
  std::string_view alias;  ///< lower case, without a leading "tpu" and its hyphen: "v5litepod"
  std::string_view name;   ///< name of a built-in chip: "tpu-v5e"
};

/// All aliases.
std::span<const ChipAlias> chip_aliases();

/// Returns the name of the built-in chip that is meant: "tpu-v5e" for "TPU-v5e", "v5litepod" or
/// "TPU v5 lite". Returns any other name, and paths, unchanged.
std::string chip_name(std::string_view name);

/// A Cloud TPU accelerator type, such as "v5litepod-16" or "tpu-v5p-8".
struct AcceleratorType {
  std::string_view chip;    ///< name of a built-in chip
  std::uint32_t count = 0;  ///< number in the name
  /// TensorCores per unit of `count`: 1 if the name counts chips, as for v5e and v6e; 2 if it counts
  /// TensorCores, as for v4, v5p and TPU7x.
  std::uint32_t units_per_chip = 1;
};

/// std::nullopt if `text` is not an accelerator type of a built-in chip.
std::optional<AcceleratorType> accelerator_type(std::string_view text);

/// Returns the slice of an accelerator type, in the shape that `slices` list it. @throws
/// std::invalid_argument if there is none with this number of chips, or several
hardware::SliceLengths slice_of(const AcceleratorType& type, const hardware::Slices& slices);

/// Error message for a name that is not a built-in chip: the nearest chip, with parameters to
/// override if the name is of a known chip. `names`: all built-in chips
std::string unknown_chip(std::string_view name, std::span<const std::string_view> names);

}  // namespace equarx::config
