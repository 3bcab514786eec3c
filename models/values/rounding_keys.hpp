// Random streams of the roundings of a unit.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "models/numerics/codec/block_codec.hpp"
#include "models/values/unit_geometry.hpp"

namespace equarx::values {

/// Keys of all stochastic roundings, unique for each rounding of each element. Ranks that encode the
/// same sums share a key, so that they round alike.
class RoundingKeys {
 public:
  /// Keeps a reference to `geometry`.
  RoundingKeys(const UnitGeometry& geometry, std::uint64_t seed)
      : geometry_(geometry), seed_(seed) {}

  /// Drops the sums of the previous unit.
  void start() { summed_.clear(); }
  /// Notes that an Op::reduce gave the ranks along its gathered axes the same sums of a tile.
  void note_sums(const collectives::Instruction& reduce);

  /// Key of quantizing a tile; a rank writes a buffer once.
  numerics::RoundingKey of_buffer(const collectives::Instruction& instruction,
                                  const RankTile& tile) const;
  /// Key of a cast, which writes no buffer.
  numerics::RoundingKey of_cast(const collectives::Instruction& instruction,
                                const RankTile& tile) const;
  /// Key of a sum that is itself rounded. One per instruction, because a rank of a tree adds the
  /// bytes of several ranks for one buffer.
  numerics::RoundingKey of_sum(const collectives::Instruction& instruction,
                               const RankTile& tile) const;

  /// Returns the first of the ranks that encode the same values: in an AllGather, the ranks along
  /// axes that do not cut the chunk; in recursive doubling, the ranks that already have the same
  /// sums.
  collectives::Rank first_to_encode(const collectives::Instruction& instruction,
                                    collectives::Rank rank) const;

 private:
  collectives::AxisSet summed_along(const collectives::Tile& tile) const;

  const UnitGeometry& geometry_;
  std::uint64_t seed_;
  // Tiles with identical sums on all ranks that differ along the given axes only.
  std::vector<std::pair<collectives::Tile, collectives::AxisSet>> summed_;
};

}  // namespace equarx::values
