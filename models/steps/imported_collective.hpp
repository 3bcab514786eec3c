// What becomes of a collective of a program that others wrote.
#pragma once

#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "models/steps/step.hpp"

namespace equarx::steps {

/// Elements of a type that hold so many bytes.
inline std::uint64_t elements_of(double bytes, numerics::ElementFormat dtype) {
  constexpr double kBitsOfByte = 8.0;
  return static_cast<std::uint64_t>(
      std::ceil(bytes * kBitsOfByte / static_cast<double>(numerics::element_bits(dtype))));
}

/// Whether a type has 16 bits or more, so that a format may bring something.
inline bool is_wide(numerics::ElementFormat dtype) {
  constexpr std::size_t kTwoBytes = 16;
  return numerics::element_bits(dtype) >= kTwoBytes;
}

/// A collective of a program of XLA, or of Chakra's traces.
struct ImportedCollective {
  std::string group;                              ///< its tasks are reported with
  std::string obstacle;                           ///< why it is not simulated; empty: it is
  CollectiveCall call;                            ///< if it is, and is no permute
  std::optional<Permute> permute = std::nullopt;  ///< if it is, and is one
  /// A format may be used for what it sends: floating-point numbers of 16 bits or more, which it sums or gathers
  /// (collectives::sums()).
  bool can_quantize = false;
};

/// What its tasks do.
inline std::variant<Computation, CollectiveCall, Permute, HostTransfer> work_of(
    const ImportedCollective& collective) {
  if (collective.permute) return *collective.permute;
  return collective.call;
}

/// Sets the groups of a call: along axes of a mesh if they are that (`along`), else listed in the graph. Says why neither
/// can be; empty if one was.
std::string set_groups(const std::optional<std::vector<std::size_t>>& along,
                       const std::vector<std::vector<std::uint32_t>>& groups, std::uint32_t chips,
                       StepGraph& graph, CollectiveCall& call);

}  // namespace equarx::steps
