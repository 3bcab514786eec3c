// A program sorted into parts whose values do not depend on each other.
#pragma once

#include <cstdint>
#include <vector>

#include "models/collectives/program.hpp"

namespace equarx::values {

/// What shares scales in one segment, whatever the shard: a minishard, or a microshard where no format
/// has scales. No sum and no scale reaches out of it.
struct Lane {
  std::uint32_t segment = 0;
  collectives::Range range;        ///< within the segment
  std::uint64_t in_minishard = 0;  ///< where it starts within its minishard
  std::vector<collectives::InstructionId> instructions;
  std::vector<collectives::BufferId> buffers;
};

class LaneTable {
 public:
  /// Keeps a reference to `program`.
  explicit LaneTable(const collectives::Program& program);

  const collectives::Program& program() const { return program_; }
  const std::vector<Lane>& lanes() const { return lanes_; }
  /// Place of a buffer within its lane's `buffers`.
  std::uint32_t place(collectives::BufferId buffer) const { return places_[buffer]; }

 private:
  std::size_t index_of(const collectives::Tile& tile) const;
  void place_lanes();

  const collectives::Program& program_;
  std::uint32_t parts_;  ///< lanes of a minishard
  std::vector<Lane> lanes_;
  std::vector<std::uint32_t> places_;
};

}  // namespace equarx::values
