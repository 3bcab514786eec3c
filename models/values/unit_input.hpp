// Inputs of all ranks for one unit, and the exact result.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "models/numerics/codec/aligned_vector.hpp"
#include "models/values/tensor_source.hpp"
#include "models/values/unit_geometry.hpp"

namespace equarx::values {

/// When the inputs of ranks are read.
enum class Reading : std::uint8_t {
  at_once,
  on_demand  ///< at the first use of a rank's values, once more after the exact sum
};

/// Values of every rank: the inputs, then the partial sums that the program computes in their
/// place. Also the exact results, in double.
class UnitInput {
 public:
  /// Keeps references to all. `residual`: required by programs that add one; its rank 0 is read.
  UnitInput(const UnitGeometry& geometry, const TensorSource& source,
            const TensorSource* residual = nullptr);

  /// Reads the inputs of the current unit: only the root's for a broadcast, only the own shards for
  /// an AllGather. On demand only for collectives that sum.
  void read(Reading reading = Reading::at_once);

  /// Values of a rank, in the order of the lane; empty for a rank whose input was not read.
  std::span<float> values(collectives::Rank rank) {
    if (on_demand_ && values_[rank].empty()) read_again(rank);
    return values_[rank];
  }
  /// Values of a tile.
  std::span<float> values(const RankTile& tile) {
    return values(tile.rank).subspan(tile.range.begin, tile.range.size());
  }
  /// Frees the values of a rank for the values of another, if ranks are read on demand.
  void release(collectives::Rank rank);
  /// The residual in a range, in the order of the lane. Only of programs that add one.
  std::span<const float> residual(const collectives::Range& range) const {
    return std::span(residual_).subspan(range.begin, range.size());
  }
  /// The exact result, with the residual, including padding. `row` < result_rows().
  std::span<const double> exact(std::uint32_t row) const {
    return std::span(exact_).subspan(row * geometry_.elements(), geometry_.elements());
  }

 private:
  void read(collectives::Rank rank);
  void read(const TensorSource& source, collectives::Rank rank, std::size_t begin,
            std::span<float> values) const;
  void read_again(collectives::Rank rank);
  void read_and_sum();
  void read_shards();
  void read_and_average();
  void read_residual();

  const UnitGeometry& geometry_;
  const TensorSource& source_;
  const TensorSource* residual_source_;
  bool on_demand_ = false;
  std::vector<numerics::AlignedVector<float>> values_;  ///< by rank
  std::vector<numerics::AlignedVector<float>> spare_;   ///< of ranks that were released
  numerics::AlignedVector<double> exact_;
  numerics::AlignedVector<float> residual_;
};

}  // namespace equarx::values
