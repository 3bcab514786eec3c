// Magnitudes and range errors of the values of a collective on their way.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "models/collectives/program.hpp"

namespace equarx::values {

/// Range errors of conversions, and the first place.
struct RangeEvents {
  std::uint64_t count = 0;
  std::uint64_t element = 0;   ///< index in the tensor of the first, by index
  collectives::Rank rank = 0;  ///< where it happened
  collectives::Op op{};        ///< instruction that converted or added

  RangeEvents& operator+=(const RangeEvents& other);
};

/// Magnitudes and range errors between the inputs and the result. Zero without values.
struct RangeCounts {
  float largest_input = 0.0F;  ///< finite magnitudes
  float largest_sum = 0.0F;    ///< of partial and complete sums, before they are rounded
  /// Elements, by rank and instruction, that become Inf or NaN from finite operands.
  RangeEvents overflows;
  /// Finite elements beyond the largest value of a type, which become that value.
  RangeEvents saturations;
  /// Elements not zero that become zero in a conversion to a type without scales.
  RangeEvents underflows;

  RangeCounts& operator+=(const RangeCounts& other);
};

/// Collects RangeCounts of a unit.
class RangeTrace {
 public:
  /// Starts a unit whose first element is `first` and which has `real` elements without padding.
  void start(std::uint64_t first, std::size_t real);

  /// Place of observed values.
  struct Place {
    collectives::Op op{};
    collectives::Rank rank = 0;
    std::size_t begin = 0;    ///< first element within the unit
    std::uint32_t ranks = 1;  ///< from `rank` on, with the same values
  };

  /// Notes inputs.
  void input(std::span<const float> values);
  /// Notes sums of finite operands, before they are rounded.
  void sums(const Place& place, std::span<const float> before, std::span<const float> terms,
            std::span<const float> sums);
  /// Notes a conversion to a type without scales.
  void conversion(const Place& place, numerics::ElementFormat type, std::span<const float> before,
                  std::span<const float> after);

  const RangeCounts& counts() const { return counts_; }

 private:
  void add(RangeEvents& events, const Place& place, std::size_t index) const;
  std::span<const float> real_part(const Place& place, std::span<const float> values) const;

  std::uint64_t first_ = 0;
  std::size_t real_ = 0;
  RangeCounts counts_;
};

}  // namespace equarx::values
