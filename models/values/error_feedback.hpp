// Error feedback: what roundings lose in one step is added to the inputs of the next.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "models/numerics/codec/aligned_vector.hpp"
#include "models/values/unit_geometry.hpp"
#include "models/values/unit_input.hpp"

namespace equarx::values {

/// Losses of the ranks in the current unit. Without feedback, all functions have no effect.
class ErrorFeedback {
 public:
  /// `lost`: see ValueOptions::feedback; null without feedback. Keeps references to both.
  ErrorFeedback(const UnitGeometry& geometry, const std::vector<std::span<float>>* lost)
      : geometry_(geometry), lost_(lost) {}

  bool enabled() const { return lost_ != nullptr; }

  /// Adds the losses of earlier steps to the inputs and resets them, to collect this step's losses.
  void add_to(UnitInput& input);
  /// Returns room for the values before the next rounding.
  std::span<float> unrounded(std::size_t elements);
  /// Saves values that are about to be rounded.
  void save(std::span<const float> values);
  /// Records the loss of rounding the saved values of a tile to `after`; `unit` is the value of 1 in
  /// units of the tensor.
  void record(const RankTile& tile, std::span<const float> after, float unit = 1.0F);

 private:
  const UnitGeometry& geometry_;
  const std::vector<std::span<float>>* lost_;  ///< by rank
  numerics::AlignedVector<float> unrounded_;
};

}  // namespace equarx::values
