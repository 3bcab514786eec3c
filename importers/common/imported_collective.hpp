// Collectives of imported programs, and how they are simulated.
#pragma once

#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "models/steps/step.hpp"

namespace equarx::steps {

/// Number of elements of `dtype` needed to hold `bytes`.
inline std::uint64_t elements_of(double bytes, numerics::ElementFormat dtype) {
  constexpr double kBitsOfByte = 8.0;
  return static_cast<std::uint64_t>(
      std::ceil(bytes * kBitsOfByte / static_cast<double>(numerics::element_bits(dtype))));
}

/// True for types of 16 bits or more, which quantization can shrink.
inline bool is_wide(numerics::ElementFormat dtype) {
  constexpr std::size_t kTwoBytes = 16;
  return numerics::element_bits(dtype) >= kTwoBytes;
}

/// A collective of an XLA program or of Chakra traces.
struct ImportedCollective {
  std::string group;                              ///< label of its tasks in reports
  std::string skip_reason;                        ///< why it is not simulated; empty if it is
  CollectiveCall call;                            ///< valid if simulated and not a permute
  std::optional<Permute> permute = std::nullopt;  ///< set if simulated as a permute
  /// True if it may be quantized: floating-point elements of 16 bits or more that are summed or
  /// moved.
  bool can_quantize = false;
};

/// Returns the work of its tasks.
inline decltype(Task::work) work_of(const ImportedCollective& collective) {
  if (collective.permute) return *collective.permute;
  return collective.call;
}

/// Sets the groups of `call`: mesh axes if `along` is set, otherwise lists added to the graph.
/// Returns why that is impossible, or an empty string.
std::string set_groups(const std::optional<std::vector<std::size_t>>& along,
                       const std::vector<std::vector<std::uint32_t>>& groups, std::uint32_t chips,
                       StepGraph& graph, CollectiveCall& call);

}  // namespace equarx::steps
