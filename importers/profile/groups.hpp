// Groups of ranks in profiles, which may be truncated or name one group of several.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "importers/common/device_axes.hpp"

namespace equarx::profile {

/// A list of ranks as written.
struct RankList {
  std::vector<std::uint32_t> ranks;
  bool truncated = false;  ///< some are replaced by "..."
};

/// Parses "[0, 1, 2]", "[0, 1, ...]" or "[0, 1, ..., 31]"; std::nullopt for other text.
std::optional<RankList> read_ranks(std::string_view text);

/// Completes a truncated list to `size` ranks of constant stride; std::nullopt if the ranks that are
/// left have none.
std::optional<std::vector<std::uint32_t>> completed(const RankList& list, std::uint32_t size);

/// `group`, ascending, and its translations, if together they divide chips 0 to `chips` - 1
/// without remainder; otherwise std::nullopt.
std::optional<imports::DeviceGroups> tiled(const std::vector<std::uint32_t>& group,
                                           std::uint32_t chips);

}  // namespace equarx::profile
