// Available slices of a machine, and their wraparound axes.
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

/// Slices composed of whole cubes in any arrangement (by optical switches on TPU v4 and later):
/// every axis is a multiple of `edge`.
struct CubeRule {
  std::uint32_t edge = 1;  ///< chips along each axis of a cube
  std::uint32_t axes = 1;
  std::uint32_t most_chips = 1;  ///< of the largest slice; at least one cube
};

/// Rule for the wraparound axes of a slice.
enum class WraparoundRule : std::uint8_t {
  never,
  axis_length,  ///< an axis wraps around if it has Slices::wraparound_length chips
  whole_cubes,  ///< all axes of a slice of whole cubes wrap around, none of a smaller slice
};

std::string_view name(WraparoundRule rule);

/// The slices of one chip type.
struct Slices {
  std::vector<SliceLengths> list;  ///< individual slices; axes in any order
  std::optional<CubeRule> cubes;   ///< additional slices of whole cubes
  WraparoundRule wraparound = WraparoundRule::never;
  std::uint32_t wraparound_length = 0;  ///< for WraparoundRule::axis_length
  Provenance provenance = Provenance::assumed;
  std::string source;
};

/// True if a slice with these axis lengths is available, in any order of the axes.
bool offers(const Slices& slices, std::span<const std::uint32_t> lengths);

/// Returns the available slices with this number of chips, axes in rising order, without
/// permutations.
std::vector<SliceLengths> slices_of(const Slices& slices, std::uint32_t chips);

/// Returns, per axis of an available slice, true if the axis wraps around.
std::vector<bool> wraparound(const Slices& slices, std::span<const std::uint32_t> lengths);

/// Returns up to `count` available slices, nearest to `lengths` first: by L1 distance of the sorted
/// axis lengths, missing axes counting as 1.
std::vector<SliceLengths> nearest_slices(const Slices& slices,
                                         std::span<const std::uint32_t> lengths, std::size_t count);

}  // namespace equarx::hardware
