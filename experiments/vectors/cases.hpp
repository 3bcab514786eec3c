// Inputs on which kernels of collectives go wrong.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "models/formats/block_format.hpp"

namespace equarx::vectors {

/// Name and purpose of a case.
struct CaseInfo {
  std::string_view name;
  std::string_view purpose;
};

/// The case with the configuration's own values.
inline constexpr std::string_view kGiven = "given";

/// All cases; kGiven is the first.
std::span<const CaseInfo> all_cases();

/// The cases with these names, in their order; all if there are none.
/// @throws input::InputError with the nearest name for an unknown one
std::vector<CaseInfo> select_cases(const std::vector<std::string>& names);

/// Elements of a case on each of `ranks` ranks.
std::uint64_t elements_of(std::string_view name, std::uint32_t ranks);

/// Inputs of a case by rank, all of them values of `dtype`, one of numerics::kTensorFormats.
std::vector<std::vector<float>> inputs_of(std::string_view name, numerics::ElementFormat dtype,
                                          std::uint32_t ranks);

}  // namespace equarx::vectors
