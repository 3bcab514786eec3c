#include "models/hardware/workgroups.hpp"

#include <algorithm>
#include <array>
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

std::string_view missing_of_workgroups(const Chip& chip) {
  constexpr std::array<std::string_view, 7> kKeys = {
      "compute_units",  "workgroups_per_unit", "workgroup_tile", "tile_codec_time",
      "peer_read_time", "codec_rate",          "copy_rate"};
  // Times may be zero, so only the others show whether workgroups are given.
  std::string_view missing;
  bool has_any = false;
  for (const std::string_view key : kKeys) {
    const ParameterInfo& info = *find_parameter(key);
    const bool has = (chip.*info.member).value > 0.0;
    has_any = has_any || has;
    if (!has && !info.may_be_zero && missing.empty()) missing = key;
  }
  return has_any ? missing : std::string_view();
}

double tile_time_s(const Chip& chip, double share) { return chip.tile_codec_time.value * share; }

double wire_access_time_s(const Chip& chip, double bytes, bool encoded) {
  return bytes / (encoded ? chip.codec_rate : chip.copy_rate).value;
}

}  // namespace equarx::hardware
