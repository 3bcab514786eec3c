#include "models/collectives/pipeline.hpp"

#include <algorithm>

namespace equarx::collectives {

std::uint32_t default_minishards(const numerics::BlockFormat& format,
                                 std::uint64_t segment_elements) {
  constexpr std::uint64_t kElementsPerScale = 128;
  constexpr std::uint64_t kMinishardElements = kElementsPerScale * numerics::kRegisterElements;
  if (!format.scaled) return 1;
  const std::uint64_t nearest = (segment_elements + kMinishardElements / 2) / kMinishardElements;
  return static_cast<std::uint32_t>(std::max<std::uint64_t>(1, nearest));
}

std::uint32_t default_microshards(const numerics::BlockFormat& format,
                                  std::uint64_t segment_elements, std::uint32_t minishards) {
  constexpr std::uint64_t kPayloadBytes = 16 * 1024;
  constexpr std::uint64_t kMost = 8;
  const std::uint64_t bytes = numerics::payload_bytes(format, segment_elements / minishards);
  return static_cast<std::uint32_t>(std::clamp<std::uint64_t>(bytes / kPayloadBytes, 1, kMost));
}

}  // namespace equarx::collectives
