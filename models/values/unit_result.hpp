// Delivered values of a unit, compared between ranks and cast back to the tensor's type.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "models/numerics/codec/aligned_vector.hpp"
#include "models/numerics/codec/shared_scale.hpp"
#include "models/values/unit_geometry.hpp"

namespace equarx::values {

/// Result of the current unit, which all ranks should share.
class UnitResult {
 public:
  /// `shared`: the scale shared by all ranks; null without one. Keeps references to both.
  UnitResult(const UnitGeometry& geometry, const numerics::SharedScale* shared)
      : geometry_(geometry), shared_(shared) {}

  /// Prepares for the current unit.
  void start();

  /// Stores the values that a rank ends with, or compares them with those of an earlier rank.
  void deliver(std::uint32_t row, const collectives::Range& range, std::span<const float> values);
  /// Keeps the values that the owner of a range ends with, if others get other ones.
  void keep(const collectives::Range& range, std::span<const float> values);
  /// Sums that some ranks end with.
  struct Sums {
    std::span<float> values;
    std::uint32_t ranks = 0;
  };
  /// The sums of a range, for an operation on them; empty at later calls, since ranks share them.
  std::vector<Sums> sums_once(const collectives::Range& range);
  /// Compares the kept values with the other ranks. After the last delivery.
  void finish();
  /// Casts a range of all rows once; ranks with the same result share it.
  void cast_back(const collectives::Range& range);

  /// The delivered values, including padding. `row` < result_rows().
  std::span<const float> values(std::uint32_t row) const {
    return std::span(values_).subspan(row * geometry_.elements(), geometry_.elements());
  }
  bool ranks_identical() const { return ranks_identical_; }
  /// Elements, without padding, whose bits are not the same on all ranks; of all rows.
  std::uint64_t differing() const { return differing_; }
  /// Elements with the largest code, if the ranks share a scale.
  std::uint64_t at_largest() const { return at_largest_; }

 private:
  void count_largest(const collectives::Range& range);
  void compare(std::size_t begin, std::span<const float> values);

  const UnitGeometry& geometry_;
  const numerics::SharedScale* shared_;
  numerics::AlignedVector<float> values_;
  std::vector<bool> delivered_;  ///< by first element of a delivery
  std::vector<bool> cast_back_;  ///< by first element of a cast, or of an operation
  std::vector<float> owned_;     ///< kept values
  std::vector<collectives::Range> owned_ranges_;
  std::vector<bool> differs_;  ///< by element; empty if all ranks have the same bits
  bool ranks_identical_ = true;
  std::uint64_t differing_ = 0;
  std::uint64_t at_largest_ = 0;
};

}  // namespace equarx::values
