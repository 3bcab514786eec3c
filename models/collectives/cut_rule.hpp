// Granularity of a collective's chunks: from the configuration, or by default from their sizes.
#pragma once

#include <cstdint>
#include <optional>

#include "models/collectives/partition.hpp"
#include "models/formats/block_format.hpp"

namespace equarx::collectives {

/// Default number of elements per strided scale group. 64 to 128 match the errors reported by the
/// EQuARX paper (docs/model.md).
inline constexpr std::uint32_t kDefaultElementsPerScale = 128;

/// Sizes of parts, in elements. They apply to chunks of all sizes, so that one number sets the
/// granularity of every stage of a collective on several axes.
struct PartSizes {
  /// maximum size, in addition to the limit of the scales; 0: no limit
  std::uint64_t minishard = 0;
  std::uint64_t microshard = 0;  ///< 0: by bytes (default_microshards())

  bool operator==(const PartSizes&) const = default;
};

/// Values from the configuration; missing values are chosen per chunk.
struct CutRule {
  std::optional<std::uint32_t> minishards = std::nullopt;
  std::optional<std::uint32_t> microshards = std::nullopt;
  std::uint32_t elements_per_scale = kDefaultElementsPerScale;  ///< used if `minishards` is absent
  PartSizes sizes = {};  ///< for missing values; never enlarge a scale group
};

/// Returns the cut of a chunk of `chunk_elements` elements. `format` is the wire format.
Cut choose_cut(const CutRule& rule, const numerics::BlockFormat& format,
               std::uint64_t chunk_elements);

/// Returns the number of minishards that leaves closest to `elements_per_scale` elements in each of
/// the 1024 strided scale groups, at least 1; 1 for a format without scales.
std::uint32_t default_minishards(const numerics::BlockFormat& format, std::uint64_t chunk_elements,
                                 std::uint32_t elements_per_scale);

/// Maximum number of microshards per minishard, unless the configuration requests more.
inline constexpr std::uint32_t kMostMicroshards = 8;

/// Returns the number of microshards that leaves 2 KiB of payload in each, from 1 to 8, or to 4
/// with several minishards, which already overlap each other. A transfer of 2 KiB occupies a link
/// of 45 GB/s for about 45 ns: no less than the core needs to start and to await one.
std::uint32_t default_microshards(const numerics::BlockFormat& format, std::uint64_t chunk_elements,
                                  std::uint32_t minishards);

}  // namespace equarx::collectives
