// Renders advice as text, as a table and as JSON.
#pragma once

#include <string>
#include <vector>

#include "base/input/json_value.hpp"
#include "experiments/advise/advise.hpp"

namespace equarx::advise {

/// About ten lines: recommendation, speedup, error and sensitivity.
std::string to_text(const Advice& advice);

/// A requested machine with its advice, or the reason it has none.
struct MachineAdvice {
  std::string chip;      ///< as named by the user
  std::string topology;  ///< readable form
  std::optional<Advice> advice;
  std::string why_not;  ///< error message if `advice` is absent
};

/// One row per machine.
std::string to_table(const std::vector<MachineAdvice>& machines);

input::Json to_json(const Advice& advice);

/// {"sites": [...]}: chip, topology, advice and `why_not` of each machine.
input::Json to_json(const std::vector<MachineAdvice>& machines);

}  // namespace equarx::advise
