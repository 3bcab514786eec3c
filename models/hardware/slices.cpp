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

/// True if the product of all lengths is at most `most`.
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

/// Sorts the lengths and prepends axes of length 1 up to `axes` axes.
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

/// Rounds every axis down to whole cubes, then shrinks the slice until it has at most most_chips
/// chips.
SliceLengths rounded_down(const CubeRule& rule, SliceLengths lengths) {
  for (std::uint32_t& length : lengths)
    length = std::max(length / rule.edge * rule.edge, rule.edge);
  while (!has_at_most(rule.most_chips, lengths)) *std::ranges::max_element(lengths) -= rule.edge;
  return lengths;
}

/// Slices of whole cubes near `lengths`: all axes rounded down, then one more axis rounded up at a
/// time.
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

/// Appends to `found` all ways to write `chips` as a product of `axes` multiples of `edge`, each at
/// least `least`, in rising order. `begin`: the first lengths
void append_products(std::uint32_t chips, std::uint32_t axes, std::uint32_t edge,
                     std::uint32_t least, const SliceLengths& begin,
                     std::vector<SliceLengths>& found) {
  if (axes == 0) {
    if (chips == 1) found.push_back(begin);
    return;
  }
  for (std::uint32_t length = least; length <= chips; length += edge) {
    if (chips % length != 0) continue;
    SliceLengths lengths = begin;
    lengths.push_back(length);
    append_products(chips / length, axes - 1, edge, length, lengths, found);
  }
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

std::vector<SliceLengths> slices_of(const Slices& slices, std::uint32_t chips) {
  std::vector<SliceLengths> found;
  for (const SliceLengths& slice : slices.list) {
    std::uint64_t count = 1;
    for (const std::uint32_t length : slice) count *= length;
    if (count == chips) found.push_back(slice);
  }
  if (slices.cubes && chips <= slices.cubes->most_chips)
    append_products(chips, slices.cubes->axes, slices.cubes->edge, slices.cubes->edge, {}, found);
  return found;
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
