#include "models/collectives/pipeline.hpp"

#include <algorithm>

namespace equarx::collectives {

std::uint32_t default_minishards(const numerics::BlockFormat& format,
                                 std::uint64_t segment_elements, std::uint32_t elements_per_scale) {
  if (!format.scaled) return 1;
  const std::uint64_t minishard = elements_per_scale * std::uint64_t{numerics::kRegisterElements};
  const std::uint64_t nearest = (segment_elements + minishard / 2) / minishard;
  return static_cast<std::uint32_t>(std::max<std::uint64_t>(1, nearest));
}

std::uint32_t default_microshards(const numerics::BlockFormat& format,
                                  std::uint64_t segment_elements, std::uint32_t minishards) {
  constexpr std::uint64_t kPayloadBytes = 2 * 1024;
  const std::uint64_t most = minishards > 1 ? 4 : 8;
  const std::uint64_t bytes = numerics::payload_bytes(format, segment_elements / minishards);
  return static_cast<std::uint32_t>(std::clamp<std::uint64_t>(bytes / kPayloadBytes, 1, most));
}

}  // namespace equarx::collectives
