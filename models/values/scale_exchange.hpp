// Scales of a unit: amax by scale group, their encoding, and the scales that ranks receive.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "models/numerics/codec/aligned_vector.hpp"
#include "models/numerics/codec/block_codec.hpp"
#include "models/values/encoded_buffers.hpp"
#include "models/values/unit_geometry.hpp"

namespace equarx::values {

/// Scales of the minishards of the current unit.
class ScaleExchange {
 public:
  /// Keeps references to both. Scales are stored in `buffers`.
  ScaleExchange(const UnitGeometry& geometry, EncodedBuffers& buffers);

  /// Drops the amax of the previous unit.
  void start();

  /// Returns the amax of the scale groups of the tile's minishard, reset at its first element in the
  /// unit, `at`.
  std::span<float> amax_of(const collectives::Tile& tile, const RankTile& at,
                           const numerics::BlockFormat& format);
  /// Encodes the amax of a tile's minishard into a buffer of scales, and drops them.
  void encode(collectives::BufferId buffer, const collectives::Tile& tile, collectives::Rank rank,
              const numerics::BlockCodec& codec);
  /// Returns the scales of a payload that `producer` encodes; none if its format has none.
  std::span<const float> scales_of(collectives::BufferId payload, collectives::Rank producer);

 private:
  /// Amax of each scale group of one minishard, until its scales are encoded.
  struct Amax {
    collectives::Tile tile;
    numerics::AlignedVector<float> values;
  };

  const UnitGeometry& geometry_;
  EncodedBuffers& buffers_;
  std::vector<std::vector<Amax>> amax_;  ///< by rank
};

}  // namespace equarx::values
