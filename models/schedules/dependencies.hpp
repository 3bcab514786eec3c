// What steps of a rank have to wait for: found out by the chunks that they touch.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "models/schedules/schedule.hpp"

namespace equarx::schedules {

/// Writes the thread blocks of one rank step by step, in an order in which they could be done one after the other; each
/// waits for those of other thread blocks that touched its chunks before.
class RankWriter {
 public:
  explicit RankWriter(std::vector<ThreadBlock> blocks);

  /// Adds a step to a thread block, behind nops that wait for all it has to wait for but the last, which it waits for
  /// itself: MSCCL's form.
  void add(std::uint32_t block, Step step);

  const std::vector<ThreadBlock>& blocks() const { return blocks_; }

 private:
  /// Who touched a chunk since it was written, and who wrote it.
  struct Chunk {
    std::vector<Dependency> readers;
    std::vector<Dependency> writer;  ///< none or one
  };

  void need(std::uint32_t block, const std::vector<Dependency>& earlier,
            std::map<std::uint32_t, std::uint32_t>& needed) const;
  std::vector<Dependency> needs_of(std::uint32_t block, const Step& step);
  void note(std::uint32_t block, const Step& step);

  std::vector<ThreadBlock> blocks_;
  std::map<std::pair<Memory, std::uint32_t>, Chunk> chunks_;
  /// By thread block and other thread block: up to which of its steps it has waited already, and one more.
  std::vector<std::vector<std::uint32_t>> waited_;
};

}  // namespace equarx::schedules
