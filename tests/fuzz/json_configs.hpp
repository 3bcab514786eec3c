#pragma once

#include <algorithm>
#include <cstdint>

#include "base/input/json.hpp"
#include "experiments/config/config.hpp"
#include "experiments/config/step.hpp"

namespace equarx::testing {

/// True if `holds` is true for the value or any value nested in it.
template <typename Holds>
bool holds_somewhere(const input::Json& json, const Holds& holds) {
  if (holds(json)) return true;
  if (!json.is_structured()) return false;
  return std::ranges::any_of(json,
                             [&](const input::Json& part) { return holds_somewhere(part, holds); });
}

/// True if `json` is an object with a number above `most` under the key.
bool has_more(const input::Json& json, const char* key, std::uint64_t most);

/// True if a task of the document has a large "repeat": every repetition is read, written and read
/// again.
bool has_many_tasks(const input::Json& json);

/// Plans an experiment or a step, unless that may take long. @throws InputError if it is infeasible
void plan_if_small(const config::ExperimentConfig& config);
void plan_if_small(const config::StepConfig& config);

}  // namespace equarx::testing
