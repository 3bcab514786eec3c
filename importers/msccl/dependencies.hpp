// Dependencies between the steps of a rank, derived from the chunks that they access.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "importers/msccl/schedule.hpp"

namespace equarx::schedules {

/// Builds the thread blocks of one rank from steps added in a valid serial order. Each step depends
/// on the earlier steps of other thread blocks that conflict with it.
class RankWriter {
 public:
  explicit RankWriter(std::vector<ThreadBlock> blocks);

  /// Appends a step to a thread block. As in MSCCL, a step has at most one dependency, so any
  /// further ones go to preceding nops.
  void add(std::uint32_t block, Step step);

  const std::vector<ThreadBlock>& blocks() const { return blocks_; }

 private:
  /// Latest accesses to a chunk.
  struct Chunk {
    std::vector<Dependency> readers;  ///< since the last write
    std::vector<Dependency> writer;   ///< at most one
  };

  void need(std::uint32_t block, const std::vector<Dependency>& earlier,
            std::map<std::uint32_t, std::uint32_t>& needed) const;
  std::vector<Dependency> needs_of(std::uint32_t block, const Step& step);
  void record(std::uint32_t block, const Step& step);

  std::vector<ThreadBlock> blocks_;
  std::map<std::pair<Memory, std::uint32_t>, Chunk> chunks_;
  /// [b][other]: number of leading steps of thread block `other` that b is already ordered after.
  std::vector<std::vector<std::uint32_t>> waited_;
};

}  // namespace equarx::schedules
