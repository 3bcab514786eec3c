// Where the chunks of a rank's buffers lie: in place, input and output are one.
#pragma once

#include <cstdint>
#include <vector>

#include "models/schedules/schedule.hpp"

namespace equarx::schedules {

/// The chunks of all ranks in one row.
class Memories {
 public:
  /// `in_place`: the result has the place of the input, or is the part of it, or it is a part of the result, as NCCL has
  /// it. Of a checked schedule.
  Memories(const Schedule& schedule, bool in_place);

  /// Chunks of all ranks together.
  std::uint64_t size() const { return size_; }
  /// Index of a chunk of a rank's buffer.
  std::uint64_t at(std::uint32_t rank, Memory memory, std::uint32_t chunk) const {
    return first_[rank * kMemories + static_cast<std::size_t>(memory)] + chunk;
  }
  std::uint64_t at(std::uint32_t rank, const Place& place) const {
    return at(rank, place.memory, place.chunk);
  }

 private:
  std::vector<std::uint64_t> first_;  ///< by rank and Memory
  std::uint64_t size_ = 0;
};

}  // namespace equarx::schedules
