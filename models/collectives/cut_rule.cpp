#include "models/collectives/cut_rule.hpp"

#include <algorithm>

namespace equarx::collectives {

Cut choose_cut(const CutRule& rule, const numerics::BlockFormat& format,
               std::uint64_t chunk_elements) {
  Cut cut;
  cut.minishards =
      rule.minishards.value_or(default_minishards(format, chunk_elements, rule.elements_per_scale));
  if (cut.minishards == 0) return cut;  // which no partition accepts
  cut.microshards =
      rule.microshards.value_or(default_microshards(format, chunk_elements, cut.minishards));
  return cut;
}

std::uint32_t default_minishards(const numerics::BlockFormat& format, std::uint64_t chunk_elements,
                                 std::uint32_t elements_per_scale) {
  if (!format.scaled) return 1;
  const std::uint64_t minishard = elements_per_scale * std::uint64_t{numerics::kRegisterElements};
  const std::uint64_t nearest = (chunk_elements + minishard / 2) / minishard;
  return static_cast<std::uint32_t>(std::max<std::uint64_t>(1, nearest));
}

std::uint32_t default_microshards(const numerics::BlockFormat& format, std::uint64_t chunk_elements,
                                  std::uint32_t minishards) {
  constexpr std::uint64_t kPayloadBytes = 2 * 1024;
  const std::uint64_t most = minishards > 1 ? 4 : 8;
  const std::uint64_t bytes = numerics::payload_bytes(format, chunk_elements / minishards);
  return static_cast<std::uint32_t>(std::clamp<std::uint64_t>(bytes / kPayloadBytes, 1, most));
}

}  // namespace equarx::collectives
