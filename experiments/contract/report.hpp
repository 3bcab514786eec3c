// Contracts as JSON and as text.
#pragma once

#include <string>

#include "base/input/json_text.hpp"
#include "experiments/contract/contract.hpp"

namespace equarx::contract {

/// Roundings of the longest path in words: "7 x bf16", "8 x int8 + 1 x bf16". FP32 additions are
/// left out unless nothing else rounds.
std::string path_text(const values::RoundingPath& path);

/// Describes the contracts for people.
std::string to_text(const Contract& contract);

/// As documented in docs/contract.md.
input::Json to_json(const Contract& contract);

}  // namespace equarx::contract
