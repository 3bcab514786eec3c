// Memory layout of the chunks of all ranks; in place, input and output share storage.
#pragma once

#include <cstdint>
#include <vector>

#include "importers/msccl/schedule.hpp"

namespace equarx::schedules {

/// Assigns consecutive indices to the chunks of all ranks.
class Memories {
 public:
  /// @param schedule must have passed check()
  /// @param in_place input and output share storage: the smaller one is the rank's part of the
  /// larger one, as in NCCL
  Memories(const Schedule& schedule, bool in_place);

  /// Number of chunks over all ranks.
  std::uint64_t size() const { return size_; }
  /// Returns the index of a chunk of a rank's buffer.
  std::uint64_t at(std::uint32_t rank, Memory memory, std::uint32_t chunk) const {
    return first_[rank * kMemories + static_cast<std::size_t>(memory)] + chunk;
  }
  std::uint64_t at(std::uint32_t rank, const Location& location) const {
    return at(rank, location.memory, location.chunk);
  }

 private:
  std::vector<std::uint64_t> first_;  ///< by rank and Memory
  std::uint64_t size_ = 0;
};

}  // namespace equarx::schedules
