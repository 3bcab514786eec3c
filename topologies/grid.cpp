#include "topologies/grid.hpp"

#include <algorithm>
#include <charconv>
#include <numeric>
#include <stdexcept>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace equarx::topology {
namespace {

// The shortest ring whose closing link does not duplicate an existing one.
constexpr std::uint32_t kShortestRing = 3;

std::string label_of(const Coordinates& coordinates) {
  return fmt::format("({})", fmt::join(coordinates, ","));
}

[[noreturn]] void refuse_text(std::string_view text) {
  throw std::invalid_argument(
      fmt::format("\"{}\" is not the shape of a grid; write positive whole numbers joined by x, "
                  "such as \"4x2\"",
                  text));
}

[[noreturn]] void refuse_size(std::string_view text) {
  throw std::invalid_argument(fmt::format(
      "\"{}\" has more than {} chips; use a smaller grid, such as \"16x16\"", text, kMaxChips));
}

std::uint32_t checked_chip_count(const std::vector<std::uint32_t>& lengths) {
  if (lengths.empty()) refuse_text("");
  std::uint64_t chips = 1;
  for (const std::uint32_t length : lengths) {
    if (length == 0) refuse_text(format_lengths(lengths));
    if (length > kMaxChips / chips) refuse_size(format_lengths(lengths));
    chips *= length;
  }
  return static_cast<std::uint32_t>(chips);
}

std::uint32_t parse_length(std::string_view number, std::string_view text) {
  std::uint32_t length = 0;
  const char* end = number.data() + number.size();
  const auto [stop, error] = std::from_chars(number.data(), end, length);
  if (stop != end || error == std::errc::invalid_argument) refuse_text(text);
  if (error == std::errc::result_out_of_range) refuse_size(text);
  return length;
}

/// Difference of chip ids between neighbours along each axis.
std::vector<std::uint32_t> strides_of(const GridShape& shape) {
  std::vector<std::uint32_t> strides(shape.lengths.size());
  std::uint32_t stride = 1;
  for (std::size_t axis = shape.lengths.size(); axis-- > 0;) {
    strides[axis] = stride;
    stride *= shape.lengths[axis];
  }
  return strides;
}

}  // namespace

std::vector<std::uint32_t> parse_lengths(std::string_view text) {
  std::vector<std::uint32_t> lengths;
  std::size_t begin = 0;
  while (begin <= text.size()) {
    const std::size_t end = std::min(text.find_first_of("xX*", begin), text.size());
    lengths.push_back(parse_length(text.substr(begin, end - begin), text));
    begin = end + 1;
  }
  checked_chip_count(lengths);
  return lengths;
}

std::string format_lengths(const std::vector<std::uint32_t>& lengths) {
  return fmt::format("{}", fmt::join(lengths, "x"));
}

std::uint32_t chip_count(const GridShape& shape) {
  const std::uint32_t chips = checked_chip_count(shape.lengths);
  if (shape.wraparound.size() != shape.lengths.size()) {
    throw std::invalid_argument(fmt::format(
        "wraparound is given for {} axes of the grid {}; give it for each of its {} axes",
        shape.wraparound.size(), format_lengths(shape.lengths), shape.lengths.size()));
  }
  return chips;
}

bool has_wraparound_links(const GridShape& shape, std::size_t axis) {
  return shape.wraparound.at(axis) && shape.lengths.at(axis) >= kShortestRing;
}

std::vector<std::size_t> canonical_axes(const GridShape& shape) {
  std::vector<std::size_t> axes(shape.lengths.size());
  std::iota(axes.begin(), axes.end(), std::size_t{0});
  std::ranges::stable_sort(axes, {}, [&](std::size_t axis) {
    return std::pair(shape.lengths[axis], has_wraparound_links(shape, axis));
  });
  return axes;
}

Coordinates coordinates_of(const GridShape& shape, ChipId chip) {
  const std::uint32_t chips = chip_count(shape);
  if (chip >= chips) {
    throw std::invalid_argument(
        fmt::format("chip {} does not exist on the grid {}; chips are 0 to {}", chip,
                    format_lengths(shape.lengths), chips - 1));
  }
  Coordinates coordinates(shape.lengths.size());
  for (std::size_t axis = shape.lengths.size(); axis-- > 0;) {
    coordinates[axis] = chip % shape.lengths[axis];
    chip /= shape.lengths[axis];
  }
  return coordinates;
}

ChipId chip_at(const GridShape& shape, const Coordinates& coordinates) {
  chip_count(shape);
  bool inside = coordinates.size() == shape.lengths.size();
  ChipId chip = 0;
  for (std::size_t axis = 0; inside && axis < coordinates.size(); ++axis) {
    inside = coordinates[axis] < shape.lengths[axis];
    chip = chip * shape.lengths[axis] + coordinates[axis];
  }
  if (!inside) {
    throw std::invalid_argument(
        fmt::format("chip {} is outside the grid {}; give one coordinate for each axis, from 0 to "
                    "its length - 1",
                    label_of(coordinates), format_lengths(shape.lengths)));
  }
  return chip;
}

Topology make_grid(const GridShape& shape) {
  const std::uint32_t chips = chip_count(shape);
  const std::vector<std::uint32_t> strides = strides_of(shape);
  std::vector<std::string> labels;
  std::vector<Cable> cables;
  labels.reserve(chips);
  for (ChipId chip = 0; chip < chips; ++chip) {
    const Coordinates coordinates = coordinates_of(shape, chip);
    labels.push_back(label_of(coordinates));
    for (std::size_t axis = 0; axis < shape.lengths.size(); ++axis) {
      const std::uint32_t last = shape.lengths[axis] - 1;
      if (coordinates[axis] < last) {
        cables.push_back({chip, chip + strides[axis]});
      } else if (has_wraparound_links(shape, axis)) {
        cables.push_back({chip, chip - last * strides[axis]});
      }
    }
  }
  return Topology(chips, cables, std::move(labels));
}

}  // namespace equarx::topology
