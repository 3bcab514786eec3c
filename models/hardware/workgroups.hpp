// Tiles and workgroups of GPU kernels.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "models/hardware/chip.hpp"

namespace equarx::hardware {

/// How the kernel of a collective runs on a GPU. A workgroup processes one tile of the tensor at a
/// time, from the input to the result. Compute units are alike and have the same work, so they are
/// in the same state at all times: the tiles that all of them process at once are a *row*.
struct Workgroups {
  std::uint32_t units = 0;     ///< compute units, >= 1
  std::uint32_t per_unit = 0;  ///< workgroups that a unit runs at once, >= 1
  double tile_bytes = 0.0;     ///< of the tensor, > 0

  /// Rows of a tensor: the tiles of each compute unit, rounded up.
  std::uint64_t rows(std::uint64_t tensor_bytes) const;
};

/// Returns the workgroups of a chip; std::nullopt if its file has none.
std::optional<Workgroups> workgroups(const Chip& chip);

/// Returns the key of a parameter of workgroups that the chip lacks although it has others; empty if
/// it has all or none.
std::string_view missing_of_workgroups(const Chip& chip);

/// Least time in s in which workgroups encode or decode `share` of every tile of a row.
double tile_time_s(const Chip& chip, double share);

/// Time in s in which all compute units write or read wire bytes, encoded or plain.
double wire_access_time_s(const Chip& chip, double bytes, bool encoded);

}  // namespace equarx::hardware
