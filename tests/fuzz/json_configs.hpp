#pragma once

#include <algorithm>
#include <cstdint>

#include "experiments/config/config.hpp"
#include "experiments/input/json.hpp"

namespace equarx::testing {

/// Whether it holds of a value or of one within it, at any depth.
template <typename Holds>
bool holds_somewhere(const input::Json& json, const Holds& holds) {
  if (holds(json)) return true;
  if (!json.is_structured()) return false;
  return std::ranges::any_of(json,
                             [&](const input::Json& part) { return holds_somewhere(part, holds); });
}

/// Whether it is an object with a count under this key that is larger.
bool has_more(const input::Json& json, const char* key, std::uint64_t most);

/// Whether a document has a task that is so many ("repeat"): all are read, written and read again.
bool has_many_tasks(const input::Json& json);

/// Plans an experiment, unless that may take long. @throws InputError for what cannot be had
void plan_if_small(const config::ExperimentConfig& config);

}  // namespace equarx::testing
