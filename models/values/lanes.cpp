#include "models/values/lanes.hpp"

namespace equarx::values {

using collectives::BufferId;
using collectives::Instruction;
using collectives::InstructionId;
using collectives::Op;
using collectives::Tile;

LaneTable::LaneTable(const collectives::Program& program)
    : program_(program),
      parts_(program.formats[0].scaled || program.formats[1].scaled
                 ? 1
                 : program.partition.microshards()),
      lanes_(std::size_t{program.partition.segments()} * program.partition.minishards() * parts_),
      places_(program.buffers.size()) {
  place_lanes();
  for (BufferId id = 0; id < program.buffers.size(); ++id) {
    Lane& lane = lanes_[index_of(program.buffers[id].tile)];
    places_[id] = static_cast<std::uint32_t>(lane.buffers.size());
    lane.buffers.push_back(id);
  }
  for (InstructionId id = 0; id < program.instructions.size(); ++id) {
    const Instruction& instruction = program.instructions[id];
    const bool transfer = instruction.op == Op::send || instruction.op == Op::wait;
    const Tile& tile = transfer ? program.buffers[program.messages[instruction.message].buffer].tile
                                : instruction.tile;
    lanes_[index_of(tile)].instructions.push_back(id);
  }
}

void LaneTable::place_lanes() {
  const collectives::Partition& partition = program_.partition;
  for (std::uint32_t segment = 0; segment < partition.segments(); ++segment)
    for (std::uint32_t minishard = 0; minishard < partition.minishards(); ++minishard) {
      const collectives::Range whole = partition.minishard(minishard);
      for (std::uint32_t part = 0; part < parts_; ++part) {
        Lane& lane =
            lanes_[index_of({.segment = segment, .minishard = minishard, .microshard = part})];
        const collectives::Range range = parts_ == 1 ? collectives::Range{0, whole.size()}
                                                     : partition.microshard(minishard, part);
        lane.segment = segment;
        lane.range = {whole.begin + range.begin, whole.begin + range.end};
        lane.in_minishard = range.begin;
      }
    }
}

std::size_t LaneTable::index_of(const Tile& tile) const {
  const std::size_t minishard =
      std::size_t{tile.segment} * program_.partition.minishards() + tile.minishard;
  return minishard * parts_ + (parts_ == 1 ? 0 : tile.microshard);
}

}  // namespace equarx::values
