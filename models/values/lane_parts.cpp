#include "models/values/lane_parts.hpp"

#include <algorithm>
#include <climits>

namespace equarx::values {
namespace {

using numerics::BlockFormat;
using numerics::ScaleLayout;

/// True if scale groups are consecutive elements, and whole groups fill a part exactly.
bool has_small_groups(const BlockFormat& format) {
  if (format.layout == ScaleLayout::strided || format.tensor_scale) return false;
  const std::size_t run = format.layout == ScaleLayout::paired ? 2 * format.block : format.block;
  return kPartElements % run == 0;
}

bool divides(const BlockFormat& format) {
  if (format.rule == numerics::ScaleRule::own) return false;
  if (numerics::sends_scales(format)) return has_small_groups(format);
  return numerics::element_bits(format.element) % CHAR_BIT == 0;
}

/// True if a lane is a minishard: on one axis.
bool has_lanes_of_minishards(const collectives::Program& program) {
  for (std::uint32_t segment = 0; segment < program.partition.segments(); ++segment)
    if (program.partition.segment(segment).axes.size() > 1) return false;
  return true;
}

}  // namespace

bool divides_into_parts(const collectives::Program& program) {
  // A rotation is of blocks from the start of a tile.
  if (collectives::differs_by_rank(program.collective) || program.counts || program.rotated)
    return false;
  if (std::ranges::any_of(program.formats, numerics::sends_scales) &&
      !has_lanes_of_minishards(program))
    return false;
  return std::ranges::all_of(program.formats, divides);
}

std::vector<collectives::Range> parts_of(std::uint64_t elements, bool whole) {
  if (whole || elements <= kPartElements) return {{0, elements}};
  std::vector<collectives::Range> parts;
  for (std::uint64_t begin = 0; begin < elements; begin += kPartElements)
    parts.push_back({begin, std::min(elements, begin + kPartElements)});
  return parts;
}

}  // namespace equarx::values
