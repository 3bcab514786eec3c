#include "models/values/lanes.hpp"

#include <algorithm>
#include <iterator>

#include "models/values/lane_columns.hpp"

namespace equarx::values {

using collectives::BufferId;
using collectives::Content;
using collectives::Instruction;
using collectives::InstructionId;
using collectives::Op;
using collectives::Partition;
using collectives::Range;
using collectives::Tile;

namespace {

/// Ends of the parts that a kind of chunk is cut into, up to the end of the largest chunk.
std::vector<std::uint64_t> cuts(const Partition& partition, std::uint32_t segment,
                                std::uint32_t uncut, std::uint64_t end, bool whole_minishards) {
  const collectives::Cut& cut = partition.cut(segment, uncut);
  std::vector<std::uint64_t> found;
  for (std::uint64_t chunk = 0; chunk < end; chunk += partition.chunk_elements(segment, uncut))
    for (std::uint32_t minishard = 0; minishard < cut.minishards; ++minishard) {
      Tile tile{.segment = segment, .uncut = uncut, .minishard = minishard};
      if (whole_minishards) {
        found.push_back(chunk + partition.minishard(tile).end);
        continue;
      }
      for (; tile.microshard < cut.microshards; ++tile.microshard)
        found.push_back(chunk + partition.microshard(tile).end);
    }
  return found;
}

}  // namespace

std::vector<LanePart> parts_of(const Lane& lane) {
  return lane.columns < numerics::kRegisterElements
             ? column_parts_of(lane.range.size(), lane.columns)
             : parts_of(lane.range.size(), lane.part);
}

std::uint32_t top_uncut(const collectives::Segment& segment) {
  return segment.axes.empty() ? 0 : static_cast<std::uint32_t>(segment.axes.size() - 1);
}

LaneTable::LaneTable(const collectives::Program& program, Parts parts) : program_(program) {
  ScaledChunks scaled;
  for (const collectives::Buffer& buffer : program.buffers)
    if (buffer.content == Content::scales) scaled.emplace(buffer.tile.segment, buffer.tile.uncut);
  for (std::uint32_t segment = 0; segment < program.partition.segments(); ++segment)
    place_lanes(segment, scaled);
  for (BufferId id = 0; id < program.buffers.size(); ++id) {
    const collectives::Buffer& buffer = program.buffers[id];
    if (buffer.content == Content::amax) continue;  // covers the whole tensor (shared_amax.hpp)
    for_each_lane_of(buffer.tile, buffer.content == Content::scales, [&](Lane& lane) {
      if (lane.buffers.empty() || lane.buffers.back() != id) lane.buffers.push_back(id);
    });
  }
  for (InstructionId id = 0; id < program.instructions.size(); ++id) {
    const Instruction& instruction = program.instructions[id];
    if (instruction.op == Op::barrier || finds_shared_scale(program, instruction)) continue;
    // An instruction that reads or moves a buffer belongs to the lanes of the buffer's tile.
    const bool transfer = is_transfer(instruction.op);
    const bool decodes = instruction.op == Op::dequantize || instruction.op == Op::deliver;
    const BufferId buffer =
        transfer ? program.messages[instruction.message].buffer : instruction.buffer;
    const Tile& tile = transfer || decodes ? program.buffers[buffer].tile : instruction.tile;
    const bool whole = instruction.op == Op::encode_scales ||
                       (transfer && program.buffers[buffer].content == Content::scales);
    for_each_lane_of(tile, whole, [&](Lane& lane) {
      if (lane.instructions.empty() || lane.instructions.back() != id)
        lane.instructions.push_back(id);
    });
  }
  divide(parts);
}

void LaneTable::divide(Parts parts) {
  const bool into_ranges = parts != Parts::whole && divides_into_parts(program_);
  const bool into_columns = parts == Parts::any && divides_into_columns(program_);
  for (Lane& lane : lanes_) {
    lane.part = into_ranges ? elements_at_once(program_, lane) : lane.range.size();
    if (into_columns) lane.columns = columns_at_once(program_, lane);
  }
}

void LaneTable::place_lanes(std::uint32_t segment, const ScaledChunks& scaled) {
  const Partition& partition = program_.partition;
  const std::uint32_t top = top_uncut(partition.segment(segment));
  const std::uint64_t end = partition.chunk_elements(segment, top);
  std::vector<std::uint64_t> common =
      cuts(partition, segment, 0, end, scaled.contains({segment, 0}));
  // An AllToAll moves whole shards only.
  const bool has_larger = program_.collective != collectives::Collective::all_to_all;
  for (std::uint32_t uncut = 1; has_larger && uncut <= top; ++uncut) {
    const auto others = cuts(partition, segment, uncut, end, scaled.contains({segment, uncut}));
    std::vector<std::uint64_t> both;
    std::ranges::set_intersection(common, others, std::back_inserter(both));
    common = std::move(both);
  }
  first_lane_.push_back(lanes_.size());
  std::uint64_t begin = 0;
  for (const std::uint64_t cut : common) {
    lanes_.push_back(
        {.segment = segment, .range = {begin, cut}, .instructions = {}, .buffers = {}});
    begin = cut;
  }
}

template <typename Visit>
void LaneTable::for_each_lane_of(const Tile& tile, bool whole_minishard, Visit visit) {
  const Partition& partition = program_.partition;
  const std::uint64_t end =
      partition.chunk_elements(tile.segment, top_uncut(partition.segment(tile.segment)));
  const std::uint64_t chunk = partition.chunk_elements(tile.segment, tile.uncut);
  const Range range = whole_minishard ? partition.minishard(tile) : partition.microshard(tile);
  const auto first = lanes_.begin() + static_cast<std::ptrdiff_t>(first_lane_[tile.segment]);
  const auto last =
      tile.segment + 1 < first_lane_.size()
          ? lanes_.begin() + static_cast<std::ptrdiff_t>(first_lane_[tile.segment + 1])
          : lanes_.end();
  for (std::uint64_t begin = 0; begin < end; begin += chunk) {
    const std::uint64_t at = begin + range.begin;
    visit(*std::prev(std::upper_bound(first, last, at, [](std::uint64_t element, const Lane& lane) {
      return element < lane.range.begin;
    })));
  }
}

}  // namespace equarx::values
