// Which slices of a machine are on offer, and which of their axes are closed to rings.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "models/hardware/provenance.hpp"

namespace equarx::hardware {

/// Chips along each axis of a slice.
using SliceLengths = std::vector<std::uint32_t>;

/// Slices that are made of whole cubes, joined in any arrangement (TPU v4 and later do it by optical
/// switches): every axis is a multiple of `edge`.
struct CubeRule {
  std::uint32_t edge = 1;  ///< chips along each axis of one cube
  std::uint32_t axes = 1;
  std::uint32_t most_chips = 1;  ///< of the largest slice; at least those of one cube
};

/// Which axes of a slice wrap around.
enum class WraparoundRule : std::uint8_t {
  never,
  axis_length,  ///< an axis wraps around if it has a certain length
  whole_cubes,  ///< every axis wraps around in a slice of whole cubes, none in a smaller one
};

std::string_view name(WraparoundRule rule);

/// The slices of one chip type.
struct Slices {
  std::vector<SliceLengths> list;  ///< offered one by one; axes in any order
  std::optional<CubeRule> cubes;   ///< offered besides
  WraparoundRule wraparound = WraparoundRule::never;
  std::uint32_t wraparound_length = 0;  ///< of WraparoundRule::axis_length
  Provenance provenance = Provenance::assumed;
  std::string source;
};

/// Whether there is a slice of these axis lengths, in any order of the axes.
bool offers(const Slices& slices, std::span<const std::uint32_t> lengths);

/// Whether each axis of a slice that is on offer is closed to a ring.
std::vector<bool> wraparound(const Slices& slices, std::span<const std::uint32_t> lengths);

/// At most `count` slices on offer, the nearest to `lengths` first: the fewest steps of one chip along
/// one axis away, missing axes counting as 1.
std::vector<SliceLengths> nearest_slices(const Slices& slices,
                                         std::span<const std::uint32_t> lengths, std::size_t count);

}  // namespace equarx::hardware
