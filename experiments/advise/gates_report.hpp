// Renders gates as a table with a Python dictionary for engines, and as JSON.
#pragma once

#include <string>
#include <vector>

#include "base/input/json_value.hpp"
#include "experiments/advise/gates.hpp"

namespace equarx::advise {

/// One row per machine and codec, then the smallest sizes as a Python dictionary, by the tensor's type
/// and ranks: a list with one entry per codec, as in vLLM's and SGLang's `_QR_MIN_SIZE`.
std::string to_text(const std::vector<MachineGates>& machines);

/// docs/results.md
input::Json to_json(const std::vector<MachineGates>& machines);

}  // namespace equarx::advise
