// Collectives and control flow within computations.
#pragma once

#include <cstdint>
#include <vector>

#include "importers/hlo/module.hpp"

namespace equarx::hlo {

/// Contents of a computation, including all computations that its instructions call.
struct Contents {
  /// Collectives, each as often as calls reach it; saturates at kMostCollectives.
  std::uint64_t collectives = 0;
  bool has_control_flow = false;  ///< a while or conditional
};

inline constexpr std::uint64_t kMostCollectives = std::uint64_t{1} << 40;

Contents& operator+=(Contents& sum, const Contents& other);

/// True if an instruction is a collective or starts one: "all-reduce", "all-reduce-start".
bool is_collective(const Instruction& instruction);

/// True if an instruction runs the computations that it calls once each: fusion, call, custom-call,
/// async-start and other "-start" forms.
bool runs_called(const Instruction& instruction);

/// Contents of each computation. `module` has no recursion.
std::vector<Contents> contents_of(const Module& module);

}  // namespace equarx::hlo
