#include "models/hardware/workgroups.hpp"

#include <algorithm>
#include <cmath>

namespace equarx::hardware {

std::uint64_t Workgroups::rows(std::uint64_t tensor_bytes) const {
  const double tiles = std::ceil(static_cast<double>(tensor_bytes) / tile_bytes);
  return std::max<std::uint64_t>(1, static_cast<std::uint64_t>(std::ceil(tiles / units)));
}

std::optional<Workgroups> workgroups(const Chip& chip) {
  if (chip.compute_units.value == 0.0) return std::nullopt;
  return Workgroups{static_cast<std::uint32_t>(chip.compute_units.value),
                    static_cast<std::uint32_t>(chip.workgroups_per_unit.value),
                    chip.workgroup_tile.value};
}

double tile_time_s(const Chip& chip, double share) { return chip.tile_codec_time.value * share; }

double wire_access_time_s(const Chip& chip, double bytes, bool encoded) {
  return bytes / (encoded ? chip.codec_rate : chip.copy_rate).value;
}

}  // namespace equarx::hardware
