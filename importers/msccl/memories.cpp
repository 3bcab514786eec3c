#include "importers/msccl/memories.hpp"

#include <algorithm>

namespace equarx::schedules {

Memories::Memories(const Schedule& schedule, bool in_place)
    : first_(schedule.ranks.size() * kMemories) {
  const auto take = [this](std::uint32_t chunks) {
    const std::uint64_t first = size_;
    size_ += chunks;
    return first;
  };
  for (std::uint32_t rank = 0; rank < schedule.ranks.size(); ++rank) {
    std::uint64_t& input = first_[rank * kMemories];
    std::uint64_t& output = first_[rank * kMemories + 1];
    const std::uint32_t input_chunks = memory_chunks(schedule, rank, Memory::input);
    const std::uint32_t output_chunks = memory_chunks(schedule, rank, Memory::output);
    if (!in_place) {
      input = take(input_chunks);
      output = take(output_chunks);
    } else if (schedule.collective == Collective::all_gather) {
      output = take(output_chunks);
      input = output + std::uint64_t{rank} * input_chunks;
    } else if (schedule.collective == Collective::reduce_scatter) {
      input = take(input_chunks);
      output = input + std::uint64_t{rank} * output_chunks;
    } else {
      input = output = take(std::max(input_chunks, output_chunks));
    }
    first_[rank * kMemories + 2] = take(memory_chunks(schedule, rank, Memory::scratch));
  }
}

}  // namespace equarx::schedules
