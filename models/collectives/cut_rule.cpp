#include "models/collectives/cut_rule.hpp"

#include <algorithm>

namespace equarx::collectives {
namespace {

/// Number of parts of closest to `size` elements, at least 1.
std::uint32_t nearest_parts(std::uint64_t elements, std::uint64_t size) {
  return static_cast<std::uint32_t>(std::max<std::uint64_t>(1, (elements + size / 2) / size));
}

std::uint32_t chosen_minishards(const CutRule& rule, const numerics::BlockFormat& format,
                                std::uint64_t chunk_elements) {
  const std::uint32_t fewest = default_minishards(format, chunk_elements, rule.elements_per_scale);
  if (!format.scaled || rule.sizes.minishard == 0) return fewest;
  return std::max(fewest, nearest_parts(chunk_elements, rule.sizes.minishard));
}

std::uint32_t chosen_microshards(const CutRule& rule, const numerics::BlockFormat& format,
                                 std::uint64_t chunk_elements, std::uint32_t minishards) {
  if (rule.sizes.microshard == 0) return default_microshards(format, chunk_elements, minishards);
  return std::min(kMostMicroshards,
                  nearest_parts(chunk_elements / minishards, rule.sizes.microshard));
}

}  // namespace

Cut choose_cut(const CutRule& rule, const numerics::BlockFormat& format,
               std::uint64_t chunk_elements) {
  Cut cut;
  cut.minishards =
      rule.minishards ? *rule.minishards : chosen_minishards(rule, format, chunk_elements);
  if (cut.minishards == 0) return cut;  // rejected by Partition
  cut.microshards = rule.microshards
                        ? *rule.microshards
                        : chosen_microshards(rule, format, chunk_elements, cut.minishards);
  return cut;
}

std::uint32_t default_minishards(const numerics::BlockFormat& format, std::uint64_t chunk_elements,
                                 std::uint32_t elements_per_scale) {
  if (!format.scaled) return 1;
  return nearest_parts(chunk_elements,
                       elements_per_scale * std::uint64_t{numerics::kRegisterElements});
}

std::uint32_t default_microshards(const numerics::BlockFormat& format, std::uint64_t chunk_elements,
                                  std::uint32_t minishards) {
  constexpr std::uint64_t kPayloadBytes = 2 * 1024;
  const std::uint64_t most = minishards > 1 ? 4 : kMostMicroshards;
  const std::uint64_t bytes = numerics::payload_bytes(format, chunk_elements / minishards);
  return static_cast<std::uint32_t>(std::clamp<std::uint64_t>(bytes / kPayloadBytes, 1, most));
}

}  // namespace equarx::collectives
