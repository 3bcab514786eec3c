#include "models/hardware/slices.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace equarx::hardware {
namespace {

SliceLengths sorted(std::span<const std::uint32_t> lengths) {
  SliceLengths result(lengths.begin(), lengths.end());
  std::ranges::sort(result);
  return result;
}

/// Whether the product of all lengths is at most `most`.
bool has_at_most(std::uint64_t most, std::span<const std::uint32_t> lengths) {
  std::uint64_t chips = 1;
  for (const std::uint32_t length : lengths) {
    if (length > most / chips) return false;
    chips *= length;
  }
  return true;
}

bool is_whole_cubes(const CubeRule& rule, std::span<const std::uint32_t> lengths) {
  const auto is_multiple = [&](std::uint32_t length) {
    return length > 0 && length % rule.edge == 0;
  };
  return lengths.size() == rule.axes && std::ranges::all_of(lengths, is_multiple) &&
         has_at_most(rule.most_chips, lengths);
}

/// The lengths in rising order, with axes of length 1 added in front until there are `axes`.
SliceLengths padded(std::span<const std::uint32_t> lengths, std::size_t axes) {
  SliceLengths result(axes - std::min(axes, lengths.size()), 1);
  const SliceLengths rising = sorted(lengths);
  result.insert(result.end(), rising.begin(), rising.end());
  return result;
}

std::uint64_t distance(std::span<const std::uint32_t> a, std::span<const std::uint32_t> b) {
  const std::size_t axes = std::max(a.size(), b.size());
  const SliceLengths left = padded(a, axes);
  const SliceLengths right = padded(b, axes);
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < axes; ++i)
    sum += std::max(left[i], right[i]) - std::min(left[i], right[i]);
  return sum;
}

/// The slice of whole cubes that has every axis rounded down, and a smaller one if that has too many chips.
SliceLengths rounded_down(const CubeRule& rule, SliceLengths lengths) {
  for (std::uint32_t& length : lengths)
    length = std::max(length / rule.edge * rule.edge, rule.edge);
  while (!has_at_most(rule.most_chips, lengths)) *std::ranges::max_element(lengths) -= rule.edge;
  return lengths;
}

/// Slices of whole cubes around `lengths`: rounded down, and with one more axis rounded up at a time.
std::vector<SliceLengths> cubes_around(const CubeRule& rule,
                                       std::span<const std::uint32_t> lengths) {
  const SliceLengths wanted = padded(lengths, rule.axes);
  if (wanted.size() != rule.axes) return {};
  SliceLengths slice = rounded_down(rule, wanted);
  std::vector<SliceLengths> around = {slice};
  for (std::size_t axis = slice.size(); axis-- > 0;) {
    if (slice[axis] >= wanted[axis]) continue;
    slice[axis] += rule.edge;
    if (!has_at_most(rule.most_chips, slice)) break;
    around.push_back(slice);
  }
  return around;
}

}  // namespace

std::string_view name(WraparoundRule rule) {
  switch (rule) {
    case WraparoundRule::never: return "never";
    case WraparoundRule::axis_length: return "axis-length";
    case WraparoundRule::whole_cubes: return "whole-cubes";
  }
  throw std::logic_error("unknown wraparound rule");
}

bool offers(const Slices& slices, std::span<const std::uint32_t> lengths) {
  const SliceLengths wanted = sorted(lengths);
  const auto is_wanted = [&](const SliceLengths& slice) { return sorted(slice) == wanted; };
  return std::ranges::any_of(slices.list, is_wanted) ||
         (slices.cubes && is_whole_cubes(*slices.cubes, lengths));
}

std::vector<bool> wraparound(const Slices& slices, std::span<const std::uint32_t> lengths) {
  std::vector<bool> wrapped;
  const bool whole = slices.cubes && is_whole_cubes(*slices.cubes, lengths);
  for (const std::uint32_t length : lengths) {
    switch (slices.wraparound) {
      case WraparoundRule::never: wrapped.push_back(false); break;
      case WraparoundRule::axis_length:
        wrapped.push_back(length == slices.wraparound_length);
        break;
      case WraparoundRule::whole_cubes: wrapped.push_back(whole); break;
    }
  }
  return wrapped;
}

std::vector<SliceLengths> nearest_slices(const Slices& slices,
                                         std::span<const std::uint32_t> lengths,
                                         std::size_t count) {
  std::vector<SliceLengths> candidates = slices.list;
  if (slices.cubes) {
    const std::vector<SliceLengths> cubes = cubes_around(*slices.cubes, lengths);
    candidates.insert(candidates.end(), cubes.begin(), cubes.end());
  }
  std::ranges::stable_sort(candidates, {},
                           [&](const SliceLengths& slice) { return distance(slice, lengths); });
  candidates.resize(std::min(count, candidates.size()));
  return candidates;
}

}  // namespace equarx::hardware
