#include "models/values/lane_parts.hpp"

#include <algorithm>
#include <climits>

#include "models/values/lanes.hpp"

namespace equarx::values {
namespace {

using numerics::BlockFormat;
using numerics::ScaleLayout;

/// Consecutive elements of whole scale groups; 1 without scales.
std::uint64_t run_of(const BlockFormat& format) {
  if (!numerics::sends_scales(format)) return 1;
  return format.layout == ScaleLayout::paired ? 2 * format.block : format.block;
}

/// True if scale groups are consecutive elements, and whole groups fill a part exactly.
bool has_small_groups(const BlockFormat& format, std::uint64_t part) {
  return format.layout != ScaleLayout::strided && !format.tensor_scale &&
         part % run_of(format) == 0;
}

bool divides(const BlockFormat& format, std::uint64_t part) {
  if (format.rule == numerics::ScaleRule::own) return false;
  if (numerics::sends_scales(format)) return has_small_groups(format, part);
  return numerics::element_bits(format.element) % CHAR_BIT == 0;
}

}  // namespace

std::uint64_t part_elements(std::uint32_t ranks) {
  constexpr std::uint64_t kMostTogether = 64 * kPartElements;  // of all ranks
  constexpr std::uint64_t kFewest = kPartElements / 4;
  std::uint64_t elements = kPartElements;
  while (elements > kFewest && elements * ranks > kMostTogether) elements /= 2;
  return elements;
}

bool divides_into_parts(const collectives::Program& program) {
  // A rotation is of blocks from the start of a tile.
  if (collectives::differs_by_rank(program.collective) || program.counts || program.rotated)
    return false;
  const std::uint64_t part = part_elements(program.ranks());
  return std::ranges::all_of(program.formats,
                             [&](const BlockFormat& format) { return divides(format, part); });
}

std::uint64_t elements_at_once(const collectives::Program& program, const Lane& lane) {
  for (const collectives::BufferId id : lane.buffers) {
    const collectives::Buffer& buffer = program.buffers[id];
    const std::uint64_t run = run_of(program.format(buffer.phase));
    const std::uint64_t chunk = program.partition.chunk_elements(lane.segment, buffer.tile.uncut);
    std::uint64_t begin = program.partition.minishard(buffer.tile).begin;
    while (begin < lane.range.begin) begin += chunk;
    const bool repeats = begin + chunk < lane.range.end;
    if ((begin - lane.range.begin) % run != 0 || (repeats && chunk % run != 0))
      return lane.range.size();
  }
  return std::min(lane.range.size(), part_elements(program.ranks()));
}

std::vector<LanePart> parts_of(std::uint64_t elements, std::uint64_t most) {
  std::vector<LanePart> parts;
  for (std::uint64_t begin = 0; begin < elements; begin += most)
    parts.push_back({.range = {begin, std::min(elements, begin + most)}});
  return parts;
}

std::vector<LanePart> column_parts_of(std::uint64_t elements, std::uint64_t columns) {
  std::vector<LanePart> parts;
  for (std::uint64_t begin = 0; begin < numerics::kRegisterElements; begin += columns)
    parts.push_back({{0, elements}, {begin, begin + columns}});
  return parts;
}

}  // namespace equarx::values
