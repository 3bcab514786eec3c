// Inputs of all ranks for one unit, and the exact result.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "models/numerics/codec/aligned_vector.hpp"
#include "models/values/tensor_source.hpp"
#include "models/values/unit_geometry.hpp"

namespace equarx::values {

/// Values of every rank: the inputs, then the partial sums that the program computes in their
/// place. Also the exact results, in double.
class UnitInput {
 public:
  /// Keeps references to both.
  UnitInput(const UnitGeometry& geometry, const TensorSource& source);

  /// Reads the inputs of the current unit: only the root's for a broadcast, only the own shards for
  /// an AllGather.
  void read();

  /// Values of a rank, in the order of the lane; empty for a rank whose input was not read.
  std::span<float> values(collectives::Rank rank) { return values_[rank]; }
  /// Values of a tile.
  std::span<float> values(const RankTile& tile) {
    return std::span(values_[tile.rank]).subspan(tile.range.begin, tile.range.size());
  }
  /// The exact result, including padding. `row` < result_rows().
  std::span<const double> exact(std::uint32_t row) const {
    return std::span(exact_).subspan(row * geometry_.elements(), geometry_.elements());
  }

 private:
  void read(collectives::Rank rank);
  void read_and_sum();
  void read_shards();

  const UnitGeometry& geometry_;
  const TensorSource& source_;
  std::vector<numerics::AlignedVector<float>> values_;  ///< by rank
  numerics::AlignedVector<double> exact_;
};

}  // namespace equarx::values
