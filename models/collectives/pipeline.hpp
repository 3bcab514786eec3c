// How finely a collective is cut when the configuration does not say.
#pragma once

#include <cstdint>

#include "models/numerics/block_format.hpp"

namespace equarx::collectives {

struct Pipeline {
  std::uint32_t minishards = 1;
  std::uint32_t microshards = 1;
};

/// Minishards that leave nearest to 128 elements in each of the 1024 strided scale groups, at least 1;
/// 1 for a format without scales. 128 is what fits the errors that the paper reports (docs/model.md).
std::uint32_t default_minishards(const numerics::BlockFormat& format,
                                 std::uint64_t segment_elements);

/// As many microshards as leave 16 KiB of payload in each, from 1 to 8. Smaller transfers would cost
/// more to start than they hide; more of them no longer shorten the pipeline's filling.
std::uint32_t default_microshards(const numerics::BlockFormat& format,
                                  std::uint64_t segment_elements, std::uint32_t minishards);

}  // namespace equarx::collectives
