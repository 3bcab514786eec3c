// How finely the chunks of a collective are cut: as the configuration says, or else by their sizes.
#pragma once

#include <cstdint>
#include <optional>

#include "models/collectives/partition.hpp"
#include "models/formats/block_format.hpp"

namespace equarx::collectives {

/// Elements of a strided scale group if the configuration does not say. 64 to 128 fit the errors that the
/// EQuARX paper reports (docs/model.md).
inline constexpr std::uint32_t kDefaultElementsPerScale = 128;

/// Sizes of parts, in elements. Chunks of all sizes are cut by the same, so that one number says how finely the
/// chunks of every stage of a collective on several axes are cut.
struct PartSizes {
  std::uint64_t minishard = 0;   ///< where scales allow larger ones; 0: as large as they allow
  std::uint64_t microshard = 0;  ///< 0: by bytes, as default_microshards() does

  bool operator==(const PartSizes&) const = default;
};

/// What the configuration says; what it does not give is chosen chunk by chunk.
struct CutRule {
  std::optional<std::uint32_t> minishards = std::nullopt;
  std::optional<std::uint32_t> microshards = std::nullopt;
  std::uint32_t elements_per_scale = kDefaultElementsPerScale;  ///< without `minishards`
  PartSizes sizes = {};  ///< of what is not given; they make no scale group larger
};

/// How a chunk of `chunk_elements` elements is cut. `format` is that on the wire.
Cut choose_cut(const CutRule& rule, const numerics::BlockFormat& format,
               std::uint64_t chunk_elements);

/// Minishards that leave nearest to `elements_per_scale` elements in each of the 1024 strided scale
/// groups, at least 1; 1 for a format without scales.
std::uint32_t default_minishards(const numerics::BlockFormat& format, std::uint64_t chunk_elements,
                                 std::uint32_t elements_per_scale);

/// Most microshards that a minishard is cut in, unless the configuration asks for more.
inline constexpr std::uint32_t kMostMicroshards = 8;

/// As many microshards as leave 2 KiB of payload in each, from 1 to 8, or to 4 where there are several
/// minishards, which overlap each other already. A transfer of 2 KiB holds a link of 45 GB/s for about 45 ns:
/// no less than the core needs to start it and to wait for one.
std::uint32_t default_microshards(const numerics::BlockFormat& format, std::uint64_t chunk_elements,
                                  std::uint32_t minishards);

}  // namespace equarx::collectives
